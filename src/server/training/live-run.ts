/** A run that was trained while this server ran: its state, its curves and what was last seen of it. */
import type {
  PanelsUpdate,
  RulesUpdate,
  RunState,
  RunSummary,
  TrainEvents,
} from '../../protocol/index.js';
import type { Curves } from './curves.js';
import type { Report } from './protocol.js';

type Kind = Pick<RunSummary, 'name' | 'configuration' | 'noisy' | 'preset'>;

/** An event for the page; `name` decides what `data` is. */
export type LiveEvent = {
  [Name in 'step' | 'accuracy' | 'panels' | 'rules' | 'note']: {
    readonly name: Name;
    readonly data: TrainEvents[Name];
  };
}['step' | 'accuracy' | 'panels' | 'rules' | 'note'];

const ACTIVE: readonly RunState[] = ['starting', 'running', 'stopping'];

export class LiveRun {
  state: RunState = 'starting';
  fault: string | null = null;
  panels: PanelsUpdate | null = null;
  rules: RulesUpdate | null = null;
  #step: number;
  #totalSteps: number | null;

  constructor(
    readonly kind: Kind,
    readonly curves: Curves,
    stored: Pick<RunSummary, 'step' | 'totalSteps'> = { step: 0, totalSteps: null },
  ) {
    this.#step = stored.step;
    this.#totalSteps = stored.totalSteps;
  }

  get name(): string {
    return this.kind.name;
  }

  get isActive(): boolean {
    return ACTIVE.includes(this.state);
  }

  get summary(): RunSummary {
    return {
      ...this.kind,
      state: this.state,
      step: this.#step,
      totalSteps: this.#totalSteps,
      accuracy: this.curves.lastAccuracy,
      fault: this.fault,
    };
  }

  /** Takes in a report. Returns the event it leads to, or null if only the state has changed. */
  take(report: Report): LiveEvent | null {
    const run = this.name;
    switch (report.kind) {
      case 'begun':
        this.curves.rewindTo(report.step);
        this.#advance(report);
        if (this.state === 'starting') this.state = 'running';
        return null;
      case 'step':
        this.#advance(report.data);
        this.curves.addStep(report.data);
        return { name: 'step', data: { run, ...report.data } };
      case 'accuracy':
        this.curves.addValidation(report.data);
        return { name: 'accuracy', data: { run, ...report.data } };
      case 'panels':
        this.panels = { run, ...report.data };
        return { name: 'panels', data: this.panels };
      case 'rules':
        this.rules = { run, ...report.data };
        return { name: 'rules', data: this.rules };
      case 'note':
        return { name: 'note', data: { run, ...report.data } };
      case 'ended':
        this.#advance(report);
        this.state = report.finished ? 'finished' : 'stopped';
        return null;
      case 'failed':
        this.fail(report.fault);
        return null;
      case 'exported':
        return null;
    }
  }

  fail(fault: string): void {
    this.state = 'failed';
    this.fault = fault;
  }

  #advance({ step, totalSteps }: { step: number; totalSteps: number | null }): void {
    this.#step = step;
    this.#totalSteps = totalSteps ?? this.#totalSteps;
  }
}
