/**
 * Progress on standard error: a bar with rate and time left on a terminal, a plain line every few
 * seconds elsewhere, nothing with --quiet. Standard output is left to results.
 */
import { SingleBar } from 'cli-progress';

export interface Progress {
  /** `done` of the total; `note` is a short text after the bar; seconds left where known better. */
  update(done: number, note?: string, secondsLeft?: number): void;
  stop(): void;
}

const PLAIN_INTERVAL_MS = 5000;

export const formatRate = (perSecond: number): string =>
  perSecond >= 100 ? Math.round(perSecond).toLocaleString('en-US') : perSecond.toPrecision(2);

export function formatSeconds(seconds: number): string {
  if (!Number.isFinite(seconds)) return '?';
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

class TerminalProgress implements Progress {
  readonly #bar: SingleBar;
  readonly #start = performance.now();
  #done = 0;

  constructor(total: number, unit: string) {
    this.#bar = new SingleBar({
      format: `{bar} {percentage}% | {value}/{total} ${unit} | {rate}/s | {left} left {note}`,
      barCompleteChar: '█',
      barIncompleteChar: '░',
      barsize: 28,
      hideCursor: true,
      fps: 8,
      stream: process.stderr,
    });
    this.#bar.start(total, 0, { rate: '–', left: '?', note: '' });
  }

  update(done: number, note = '', secondsLeft?: number): void {
    this.#done = done;
    const seconds = (performance.now() - this.#start) / 1000;
    const rate = done / Math.max(seconds, 1e-3);
    const left = secondsLeft ?? (this.#bar.getTotal() - done) / rate;
    this.#bar.update(done, { rate: formatRate(rate), left: formatSeconds(left), note });
  }

  stop(): void {
    this.#bar.update(this.#done);
    this.#bar.stop();
  }
}

class PlainProgress implements Progress {
  readonly #start = performance.now();
  #last = performance.now();

  constructor(
    readonly total: number,
    readonly unit: string,
  ) {}

  update(done: number, note = '', secondsLeft?: number): void {
    const now = performance.now();
    if (now - this.#last < PLAIN_INTERVAL_MS) return;
    this.#last = now;
    const rate = done / Math.max((now - this.#start) / 1000, 1e-3);
    const left = formatSeconds(secondsLeft ?? (this.total - done) / rate);
    process.stderr.write(
      `${done}/${this.total} ${this.unit}, ${formatRate(rate)}/s, ${left} left ${note}`.trimEnd() +
        '\n',
    );
  }

  stop(): void {}
}

const SILENT: Progress = { update: () => {}, stop: () => {} };

/** Starts a progress display that suits where standard error goes. */
export function startProgress(total: number, unit: string, quiet = false): Progress {
  if (quiet) return SILENT;
  return process.stderr.isTTY ? new TerminalProgress(total, unit) : new PlainProgress(total, unit);
}
