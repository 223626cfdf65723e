/** The comparison at hand as TypeScript that does the same, and as JSON. */
import { findLayout } from '../../../matrix/index.js';
import type { ChoiceView } from '../../engine/protocol.js';
import type { Settings } from '../../state/settings.js';

/** What is compared. */
export interface Compared {
  readonly settings: Settings;
  readonly missing: readonly number[];
  /** Indices of the right candidates, the answer first; none if it is not known. */
  readonly right: readonly number[];
  readonly answers: readonly {
    readonly system: string;
    readonly model: string;
    readonly choice: ChoiceView | null;
  }[];
}

const LAST_PANEL = 9;

/** Whether a few lines make the same matrix again: not with drawings, nor with this page's difficulties. */
export const hasCode = ({ difficulty, constraints, edits, pictures }: Settings): boolean =>
  edits === '' && pictures === '' && (difficulty === 'standard' || constraints !== '');

const asData = (json: string): string => JSON.stringify(JSON.parse(json));

export function codeOf({ settings, missing, answers }: Compared): string {
  const { layout, variant, seed, index, constraints } = settings;
  const { configuration, noisy } = findLayout(layout);
  const hasRules = constraints !== '';
  const isLastMissing = missing.includes(LAST_PANEL);
  const request = [
    `configuration: '${configuration}'`,
    ...(noisy ? ['noisy: true'] : []),
    `variant: '${variant}'`,
    `seed: ${seed}`,
    `index: ${index}`,
    ...(hasRules ? ['constraints'] : []),
  ];
  const names = answers.map(({ model }) => `'${model}'`).join(', ');
  const isOther = answers.some(({ system }) => system !== 'crab');
  const choosing = [
    `  const { index, confidence } = await solver.choose({ ...answer, missing: [9] }, candidates);`,
    '  console.log(`${name}: candidate ${index + 1}, ${Math.round(100 * confidence)}% sure`);',
  ];
  return [
    `import { panelsOf, sampleProblem, Solver } from 'crab-raven';`,
    ...(hasRules
      ? [
          `import { layoutOf, parseConstraints } from 'crab-raven/matrix';`,
          '',
          `const layout = layoutOf('${configuration}', ${noisy});`,
          // A link may hold anything: only data goes into code that people run.
          `const constraints = parseConstraints(${asData(constraints)}, layout);`,
        ]
      : ['']),
    `const problem = sampleProblem({ ${request.join(', ')} });`,
    `const { panels, candidates, answer: right } = panelsOf(problem);`,
    ...(isLastMissing ? [] : [`const nine = [...panels.slice(0, 8), candidates[right]];`]),
    `console.log(\`right: candidate \${right + 1}\`);`,
    ...(isOther ? [`// The Transformer's models are in a checkout, not in the npm package.`] : []),
    `for (const name of [${names}]) {`,
    `  const solver = await Solver.load(name);`,
    `  const answer = await solver.solve(${isLastMissing ? 'panels' : 'nine'}, { missing: [${missing.join(', ')}] });`,
    ...(isLastMissing ? choosing : ['  console.log(name, answer.images);']),
    `  await solver.dispose();`,
    `}`,
    '',
  ].join('\n');
}

export function jsonOf({ settings, missing, right, answers }: Compared): string {
  const { layout, variant, seed, index, difficulty, constraints, edits, pictures } = settings;
  const { configuration, noisy } = findLayout(layout);
  const matrix = {
    configuration,
    noisy,
    ...(pictures === ''
      ? { candidates: variant, seed, index, difficulty: constraints === '' ? difficulty : 'own' }
      : { pictures }),
    ...(constraints !== '' && { rules: JSON.parse(constraints) as unknown }),
    ...(edits !== '' && { edits }),
  };
  const [answer, ...others] = right.map((index) => index + 1);
  const told = { right: answer ?? null, ...(others.length > 0 && { alsoRight: others }) };
  const described = answers.map(({ system, model, choice }) => ({
    system,
    model,
    candidate: choice === null || choice.index === null ? null : choice.index + 1,
    confidence: choice === null || choice.index === null ? null : choice.confidence,
  }));
  return `${JSON.stringify({ matrix, missing, ...told, answers: described }, null, 2)}\n`;
}
