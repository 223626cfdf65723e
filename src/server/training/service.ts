/**
 * Training for the page: one run at a time, in a process of its own. Runs lie in one folder, where
 * those of `crab train` are found too; exported bundles in its folder `bundles`.
 */
import type { ServerResponse } from 'node:http';
import path from 'node:path';
import { EventHub } from '../event-hub.js';
import { HttpFault, sentenceOf } from '../faults.js';
import { SETUP_TORCH } from '../setup-commands.js';
import type { ExportedBundle, RunSummary, TrainEvents, TrainStatus } from '../../protocol/index.js';
import { Curves } from './curves.js';
import { LiveRun, type LiveEvent } from './live-run.js';
import type { Job, Report, TrainingSettings } from './protocol.js';
import { newRunOf, runNameOf, STUDIO_PRESETS, type Body } from './requests.js';
import { StoredRuns } from './stored-runs.js';
import { TorchWatch } from './torch-watch.js';
import { Trainer } from './trainer.js';

const BUNDLES_FOLDER = 'bundles';
/** Runs whose last pictures are remembered. */
const MOST_REMEMBERED = 8;

type JobWithoutSettings = Job extends infer Each
  ? Each extends Job
    ? Omit<Each, 'settings'>
    : never
  : never;

interface TrainingServiceOptions {
  /** Folder of the runs; made when the first one is started. */
  readonly runs: string;
  readonly settings?: TrainingSettings;
  /** Whether the zoo has a bundle of that name, which an exported one must not have. */
  readonly isBundleTaken: (name: string) => Promise<boolean>;
}

const busy = (message: string): HttpFault => new HttpFault(409, message);

const cannotTrain = (reason: string | null): HttpFault =>
  new HttpFault(503, `this machine cannot train: ${reason}; \`${SETUP_TORCH}\` gets what it needs`);

export class TrainingService {
  readonly #options: TrainingServiceOptions;
  readonly #stored: StoredRuns;
  readonly #hub = new EventHub<TrainEvents>();
  readonly #torch = new TorchWatch();
  /** Runs trained since the server was started, the newest last. */
  readonly #live = new Map<string, LiveRun>();
  /** What the process at work does, or null. */
  #work: {
    readonly trainer: Trainer;
    readonly what: string;
    readonly ended: Promise<void>;
  } | null = null;
  #closing = false;

  constructor(options: TrainingServiceOptions) {
    this.#options = options;
    this.#stored = new StoredRuns(options.runs);
  }

  get bundlesFolder(): string {
    return path.join(this.#options.runs, BUNDLES_FOLDER);
  }

  /** The process at work, so that others can watch over it. */
  get trainerPid(): number | null {
    return this.#work?.trainer.pid ?? null;
  }

  // ---- what the page asks ------------------------------------------------------------------------------

  async status(): Promise<TrainStatus> {
    const torch = await this.#torch.look();
    const runs = await this.#summaries();
    const active = [...this.#live.values()].find((run) => run.isActive);
    return {
      available: torch.devices.length > 0,
      reason: torch.reason,
      command: torch.reason === null ? null : SETUP_TORCH,
      devices: torch.devices,
      presets: STUDIO_PRESETS,
      runs,
      shown: active?.name ?? runs.at(0)?.name ?? null,
    };
  }

  /** A stream of events; it begins with what is known already. */
  listen(response: ServerResponse): Promise<void> {
    return this.#hub.add(response, async (send) => {
      const status = await this.status();
      send('status', status);
      if (status.shown === null) return;
      const live = this.#live.get(status.shown);
      const curves = live?.curves ?? (await this.#stored.curves(status.shown));
      send('history', curves.history(status.shown));
      if (live?.panels) send('panels', live.panels);
      if (live?.rules) send('rules', live.rules);
    });
  }

  async start(body: Body): Promise<RunSummary> {
    const { devices, reason } = await this.#torch.look();
    if (devices.length === 0) throw cannotTrain(reason);
    const { name: wanted, job } = newRunOf(body, devices);
    const name = await this.#stored.freeName(wanted, (each) => this.#live.has(each));
    this.#requireIdle();
    const { configuration, noisy, preset } = job;
    const run = new LiveRun({ name, configuration, noisy, preset }, new Curves());
    return this.#train(run, { ...job, run: this.#stored.pathOf(name) });
  }

  async resume(body: Body): Promise<RunSummary> {
    const name = runNameOf(body);
    const { devices, reason } = await this.#torch.look();
    if (devices.length === 0) throw cannotTrain(reason);
    const stored = await this.#require(name);
    if (stored.state === 'finished') throw busy(`${name} has reached its end`);
    const curves = await this.#stored.curves(name);
    this.#requireIdle();
    const run = new LiveRun(stored, curves, stored);
    const before = this.#live.get(name);
    run.panels = before?.panels ?? null;
    run.rules = before?.rules ?? null;
    return this.#train(run, { kind: 'resume', run: this.#stored.pathOf(name) });
  }

  async stop(body: Body): Promise<RunSummary> {
    const name = runNameOf(body);
    const run = this.#live.get(name);
    if (run === undefined || !run.isActive) {
      await this.#require(name);
      throw busy(`${name} is not being trained`);
    }
    if (run.state !== 'stopping') {
      run.state = 'stopping';
      this.#work?.trainer.stop();
      this.#statusChanged();
    }
    return run.summary;
  }

  /** Returns when the bundle is there. */
  async export(body: Body): Promise<ExportedBundle> {
    const name = runNameOf(body);
    const { step } = await this.#require(name);
    if (step === 0) throw busy(`${name} has no checkpoint yet`);
    const bundle = await this.#bundleName(name);
    this.#requireIdle();
    const out = path.join(this.bundlesFolder, bundle);
    const note = (report: Report): void => {
      if (report.kind === 'note') this.#hub.send('note', { run: name, ...report.data });
    };
    const job = { kind: 'export', run: this.#stored.pathOf(name), out } as const;
    const last = await this.#begin(job, `${name} is being exported`, note, () => {});
    if (last.kind === 'exported') return { bundle };
    throw new HttpFault(500, last.kind === 'failed' ? last.fault : 'the export was stopped');
  }

  // ---- the process -------------------------------------------------------------------------------------

  #requireIdle(): void {
    if (this.#closing) throw new HttpFault(503, 'the server is closing');
    if (this.#work !== null) throw busy(`${this.#work.what}: only one thing at a time`);
  }

  #train(run: LiveRun, job: JobWithoutSettings): RunSummary {
    this.#remember(run);
    const report = (report: Report): void => {
      const event = run.take(report);
      if (event === null) this.#statusChanged();
      else this.#send(event);
    };
    const ended = (last: Report): void => {
      run.take(last);
      this.#statusChanged();
    };
    void this.#begin(job, `${run.name} is being trained`, report, ended);
    this.#statusChanged();
    return run.summary;
  }

  #send(event: LiveEvent): void {
    this.#hub.send(event.name, event.data);
  }

  async #begin(
    job: JobWithoutSettings,
    what: string,
    onReport: (report: Report) => void,
    onEnd: (last: Report) => void,
  ): Promise<Report> {
    const settings = this.#options.settings ?? {};
    let trainer: Trainer;
    try {
      trainer = new Trainer({ ...job, settings }, onReport);
    } catch (error) {
      // No process could be made at all: too many already, or the folder it would start in is gone.
      const last: Report = { kind: 'failed', fault: sentenceOf(error) };
      onEnd(last);
      return last;
    }
    const ended = trainer.outcome.then((last) => {
      this.#work = null;
      onEnd(last);
    });
    this.#work = { trainer, what, ended };
    await ended;
    return trainer.outcome;
  }

  #remember(run: LiveRun): void {
    this.#live.delete(run.name);
    this.#live.set(run.name, run);
    for (const [name, each] of this.#live) {
      if (this.#live.size <= MOST_REMEMBERED) break;
      if (!each.isActive) this.#live.delete(name);
    }
  }

  // ---- runs --------------------------------------------------------------------------------------------

  /** What is known of all runs, the newest first; of those trained here, what they are doing. */
  async #summaries(): Promise<RunSummary[]> {
    const stored = await this.#stored.list();
    const live = [...this.#live.values()].reverse();
    const others = stored.filter(({ summary }) => !this.#live.has(summary.name));
    return [...live.map((run) => run.summary), ...others.map(({ summary }) => summary)];
  }

  async #require(name: string): Promise<RunSummary> {
    const live = this.#live.get(name);
    const stored = await this.#stored.find(name);
    if (live === undefined && stored === null) throw new HttpFault(404, `there is no run ${name}`);
    if (stored === null) throw busy(`${name} left nothing to continue`);
    // The disk knows best how far a run has come; a killed trainer may have been further.
    return stored.summary;
  }

  /** A name the page and `crab solve` accept, that is not one of the zoo. */
  async #bundleName(run: string): Promise<string> {
    const name = run.toLowerCase().replace(/[^a-z0-9-]+/g, '-');
    return (await this.#options.isBundleTaken(name)) ? `${name}-run` : name;
  }

  #statusChanged(): void {
    if (this.#hub.listeners === 0) return;
    this.status().then(
      (status) => this.#hub.send('status', status),
      () => {},
    );
  }

  /** Ends everything; the run at work stores a checkpoint. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#work?.trainer.stop();
    await this.#work?.ended;
    this.#hub.close();
  }
}
