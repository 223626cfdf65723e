/**
 * Progress on standard error: a bar with rate and time left on a terminal, a plain line every few
 * seconds elsewhere, nothing with --quiet. Standard output is left to results.
 */
import { SingleBar } from 'cli-progress';

export interface Progress {
  /** Null while unknown. */
  total: number | null;
  /** `done` of the total; `note` is a short text after the bar; seconds left where known better. */
  update(done: number, note?: string, secondsLeft?: number): void;
  stop(): void;
}

const PLAIN_INTERVAL_MS = 5000;

export const formatRate = (perSecond: number): string =>
  perSecond >= 100 ? Math.round(perSecond).toLocaleString('en-US') : perSecond.toPrecision(2);

function formatSeconds(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Rate and time left, from what was done since the start. */
abstract class Measured implements Progress {
  readonly #start = performance.now();

  /** @param first what was done before the start, by others */
  constructor(
    public total: number | null,
    readonly unit: string,
    readonly first: number,
  ) {}

  update(done: number, note = '', secondsLeft?: number): void {
    const seconds = (performance.now() - this.#start) / 1000;
    const rate = (done - this.first) / Math.max(seconds, 1e-3);
    const left = secondsLeft ?? ((this.total ?? NaN) - done) / rate;
    const told = Number.isFinite(left) ? `${formatSeconds(left)} left` : '';
    this.show(done, formatRate(rate), told, note);
  }

  /** `done` of the total, in words. */
  protected counted(done: number): string {
    return `${done}/${this.total ?? '?'} ${this.unit}`;
  }

  /** @param left in words; empty while it is not known */
  protected abstract show(done: number, rate: string, left: string, note: string): void;
  abstract stop(): void;
}

class TerminalProgress extends Measured {
  readonly #bar: SingleBar;

  constructor(total: number | null, unit: string, first: number) {
    super(total, unit, first);
    this.#bar = new SingleBar({
      format: `{bar} {percentage}% | {count} | {rate}/s {left}{note}`,
      barCompleteChar: '█',
      barIncompleteChar: '░',
      barsize: 28,
      hideCursor: true,
      fps: 8,
      stream: process.stderr,
    });
    const count = this.counted(first);
    this.#bar.start(total ?? 1, total === null ? 0 : first, {
      count,
      rate: '–',
      left: '',
      note: '',
    });
  }

  protected show(done: number, rate: string, left: string, note: string): void {
    this.#bar.setTotal(this.total ?? 1);
    const value = this.total === null ? 0 : done;
    const count = this.counted(done);
    this.#bar.update(value, { count, rate, left: left && `| ${left} `, note });
  }

  stop(): void {
    this.#bar.stop();
  }
}

class PlainProgress extends Measured {
  #last = performance.now();

  protected show(done: number, rate: string, left: string, note: string): void {
    const now = performance.now();
    if (now - this.#last < PLAIN_INTERVAL_MS) return;
    this.#last = now;
    const line = [this.counted(done), `${rate}/s`, left].filter((part) => part !== '').join(', ');
    process.stderr.write(`${`${line} ${note}`.trimEnd()}\n`);
  }

  stop(): void {}
}

const SILENT: Progress = { total: null, update: () => {}, stop: () => {} };

/** Starts a progress display that suits where standard error goes. */
export function startProgress(
  total: number | null,
  unit: string,
  quiet = false,
  first = 0,
): Progress {
  if (quiet) return SILENT;
  const Shown = process.stderr.isTTY ? TerminalProgress : PlainProgress;
  return new Shown(total, unit, first);
}

/** Shows progress while something is worked on; the display is gone when the result is told. */
export async function withProgress<T>(
  total: number | null,
  unit: string,
  { quiet }: { readonly quiet?: boolean },
  work: (progress: Progress) => Promise<T>,
): Promise<T> {
  const progress = startProgress(total, unit, quiet);
  try {
    return await work(progress);
  } finally {
    progress.stop();
  }
}

/** The same for a longer work: one bar for each of its stages, told how far that is, 0..1. */
export async function withStages<T>(
  { quiet }: { readonly quiet?: boolean },
  work: (onProgress: (stage: string, share: number) => void) => Promise<T>,
): Promise<T> {
  let current = { stage: '', bar: SILENT };
  try {
    return await work((stage, share) => {
      if (stage !== current.stage) {
        current.bar.stop();
        current = { stage, bar: startProgress(100, `% ${stage}`, quiet) };
      }
      current.bar.update(Math.round(100 * share));
    });
  } finally {
    current.bar.stop();
  }
}
