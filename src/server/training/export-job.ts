/** Makes a bundle of a run. Runs in the trainer process: it keeps a processor busy for a while. */
import { exportRun } from '../../lab/index.js';
import { openRun } from '../../training/index.js';
import type { ExportJob, Report, Tell, TrainingSettings } from './protocol.js';

/** Enough to choose well among candidates, and not more: a person waits for it. */
const PROBLEMS = 1024;
const JUDGED = 200;
/** Share of a stage between two notes of progress. */
const NOTED = 0.25;

const STAGES: Readonly<Record<string, string>> = {
  networks: 'writing the networks',
  compact: 'making the networks smaller',
  calibration: 'learning to choose among candidates',
  concepts: 'finding names for its concepts',
  accuracy: 'measuring its accuracy',
};

/** Returns the last report. */
export async function runExport(
  job: ExportJob & { readonly settings: TrainingSettings },
  tell: Tell,
  signal: AbortSignal,
): Promise<Report> {
  const { config } = await openRun(job.run);
  const { problems = PROBLEMS, judged = JUDGED, validation, named } = job.settings.exported ?? {};
  let noted = '';
  await exportRun({
    run: job.run,
    out: job.out,
    // The full networks have 600 MB: too many for a page.
    compact: config.model.preset !== 'small',
    problems,
    validation,
    judged,
    named,
    signal,
    onProgress: (stage, share) => {
      const quarters = Math.floor(share / NOTED);
      if (`${stage} ${quarters}` === noted || quarters * NOTED >= 1) return;
      noted = `${stage} ${quarters}`;
      const text = `export: ${STAGES[stage] ?? stage}, ${Math.round(100 * quarters * NOTED)}%`;
      tell({ kind: 'note', data: { level: 'info', text } });
    },
  });
  return { kind: 'exported' };
}
