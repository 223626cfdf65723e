/** Start, stop, resume, export: the runs of this machine. */
import { percent } from '../../../base/index.js';
import { useSignal } from '@preact/signals';
import { titleOfLayout } from '../../engine/words.js';
import { LAYOUT_NAMES } from '../../state/settings.js';
import { messageOf } from '../../state/resource.js';
import { changeMatrix } from '../../state/store.js';
import { readZoo } from '../../state/zoo.js';
import { freshSeed } from '../../parts/configuration-bar.js';
import type { RunSummary, TrainStatus } from '../../../protocol/index.js';
import { EXPECTED, ON_A_GPU } from './expectations.js';
import { exportRun, latest, resume, start, stop } from './connection.js';

const MINUTES = [2, 5, 10, 20, 60] as const;
const USUAL_MINUTES = 10;

function duration(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  return `${Math.round(seconds / 60)} min`;
}

/** `cpu`, `cuda:0` for people. */
const deviceWords = (device: string): string =>
  device === 'cpu' ? 'the processor' : device.replace(/^cuda:?/, 'GPU ').trim();

/** Carries out a request and keeps what went wrong. */
type Act = (work: () => Promise<unknown>) => void;

function StartForm({ state, act }: { readonly state: TrainStatus; readonly act: Act }) {
  const layout = useSignal('center');
  const minutes = useSignal<number>(USUAL_MINUTES);
  const device = useSignal(state.devices.find((name) => name.startsWith('cuda')) ?? 'cpu');
  const preset = useSignal(state.presets.at(0) ?? '');
  const select = (
    label: string,
    value: string,
    options: readonly string[],
    set: (value: string) => void,
    words: (option: string) => string = (option) => option,
  ) => (
    <label class="field stacked">
      <span>{label}</span>
      <select value={value} onChange={(event) => set(event.currentTarget.value)}>
        {options.map((option) => (
          <option key={option} value={option}>
            {words(option)}
          </option>
        ))}
      </select>
    </label>
  );
  const begin = (): void => {
    const noisy = layout.value.endsWith('-noisy');
    act(() =>
      start({
        configuration: layout.value.replace(/-noisy$/, ''),
        noisy,
        preset: preset.value,
        device: device.value,
        minutes: minutes.value,
        seed: freshSeed(),
      }),
    );
  };
  return (
    <div class="fields four">
      {select(
        'Configuration',
        layout.value,
        LAYOUT_NAMES,
        (value) => (layout.value = value),
        titleOfLayout,
      )}
      {select('Network', preset.value, state.presets, (value) => (preset.value = value))}
      {select(
        'Works on',
        device.value,
        state.devices,
        (value) => (device.value = value),
        deviceWords,
      )}
      {select(
        'Minutes',
        String(minutes.value),
        MINUTES.map(String),
        (value) => (minutes.value = Number(value)),
      )}
      <button type="button" class="main" onClick={begin}>
        Start training
      </button>
    </div>
  );
}

function WhatToExpect({ hasGpu }: { readonly hasGpu: boolean }) {
  return (
    <p class="hint" data-testid="expect">
      {hasGpu ? `${ON_A_GPU}; a smaller one takes longer.` : EXPECTED} Most other configurations
      take longer than Center. Stop whenever you like: a training can go on later.
    </p>
  );
}

const ACTIVE = ['starting', 'running', 'stopping'];

function RunRow({ run, act }: { readonly run: RunSummary; readonly act: Act }) {
  const isActive = ACTIVE.includes(run.state);
  const accuracy = Object.values(run.accuracy ?? {}).at(0);
  // A summary comes when a state changes; steps come all the time.
  const now = latest.value?.run === run.name ? latest.value : null;
  const step = Math.max(run.step, now?.step ?? 0);
  const totalSteps = run.totalSteps ?? now?.totalSteps ?? null;
  const share = totalSteps === null ? null : step / totalSteps;
  const exported = async (): Promise<void> => {
    const { bundle } = await exportRun(run.name);
    await readZoo();
    const layout = run.noisy ? `${run.configuration}-noisy` : run.configuration;
    changeMatrix({ tab: 'play', layout, model: bundle });
  };
  return (
    <tr data-run={run.name}>
      <th scope="row">{run.name}</th>
      <td>
        {run.state}
        {run.fault !== null && <span class="fault">: {run.fault}</span>}
      </td>
      <td>
        {share === null ? `step ${step}` : <progress max={1} value={share} aria-label="Done" />}
      </td>
      <td>{accuracy === undefined ? '–' : percent(accuracy)}</td>
      <td class="actions">
        {isActive ? (
          <button
            type="button"
            disabled={run.state !== 'running'}
            onClick={() => act(() => stop(run.name))}
          >
            Stop
          </button>
        ) : (
          <button
            type="button"
            disabled={run.state === 'finished'}
            onClick={() => act(() => resume(run.name))}
          >
            Resume
          </button>
        )}
        <button type="button" disabled={isActive || step === 0} onClick={() => act(exported)}>
          Export and play
        </button>
      </td>
    </tr>
  );
}

export function Controls({ state }: { readonly state: TrainStatus }) {
  const fault = useSignal<string | null>(null);
  const act: Act = (work) => {
    fault.value = null;
    work().catch((error: unknown) => (fault.value = messageOf(error)));
  };
  const isBusy = state.runs.some((run) => ACTIVE.includes(run.state));
  const now = latest.value;
  return (
    <section class="controls" aria-label="Runs">
      {!isBusy && <StartForm state={state} act={act} />}
      {!isBusy && <WhatToExpect hasGpu={state.devices.some((name) => name.startsWith('cuda'))} />}
      {isBusy && now !== null && (
        <p class="headline" role="status">
          Step {now.step.toLocaleString('en')}
          {now.totalSteps !== null && ` of ${now.totalSteps.toLocaleString('en')}`} ·{' '}
          {Math.round(now.problemsPerSecond)} matrices a second
          {now.secondsLeft !== null && ` · ${duration(now.secondsLeft)} left`}
        </p>
      )}
      {fault.value !== null && (
        <p class="fault" role="alert">
          {fault.value}
        </p>
      )}
      {state.runs.length > 0 && (
        <div class="table-scroll">
          <table class="runs">
            <thead>
              <tr>
                <th scope="col">Training</th>
                <th scope="col">State</th>
                <th scope="col">Done</th>
                <th scope="col">Chose right</th>
                <th scope="col">
                  <span class="unseen">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {state.runs.map((run) => (
                <RunRow key={run.name} run={run} act={act} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
