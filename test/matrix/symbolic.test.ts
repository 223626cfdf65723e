/** The symbolic solver on the data sets' own problems, whose rules and answers are known. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  ALL_LAYOUTS,
  candidatesConsistentWith,
  inferRules,
  layoutOf,
  parseRavenXml,
  rulesHold,
  sameRule,
  sampleProblem,
  validateProblem,
  PAPER_VARIANTS,
  type ComponentRules,
  type Panel,
  type Problem,
  type Variant,
} from '../../src/matrix/index.js';
import { KINDS } from './arbitrary.js';
import type { SeenProblem } from './observe.js';
import { Recogniser } from './recognise.js';
import { hasReference, readArray, REFERENCE } from './reference-files.js';
import { hasReferenceSets, recognisedProblems } from './reference-sets.js';

function expectAgreement(problem: Problem, name: string): void {
  expect(candidatesConsistentWith(problem), name).toEqual([problem.target]);
  expectInferred(problem, name);
}

function expectInferred(problem: Problem, name: string): void {
  const layout = layoutOf(problem.configuration, problem.noisy);
  const inferred = inferRules(layout, problem.context);
  problem.rules.forEach((rules, component) => {
    rules.forEach((rule, group) => {
      const found = inferred[component][group].some((other) => sameRule(other, rule));
      expect(found, `${name}: ${rule.name} of ${rule.attribute}`).toBe(true);
    });
  });
}

describe.skipIf(!hasReference)('reference files', () => {
  test.each(KINDS.filter(([, , variant]) => PAPER_VARIANTS.some((own) => own === variant)))(
    '%s: true rules are found and one candidate obeys them',
    (_, layout, variant) => {
      const folder = join(REFERENCE, 'files', variant.replace('-', ''), layout.folder);
      const files = readdirSync(folder).filter((file) => file.endsWith('.xml'));
      expect(files).toHaveLength(10);
      for (const file of files) {
        const path = join(folder, file);
        const [target] = readArray(path.replace(/xml$/, 'npz'), 'target');
        const xml = readFileSync(path, 'utf8');
        const problem = parseRavenXml(xml, { target, noisy: layout.noisy });
        validateProblem(problem);
        expectAgreement(problem, file);
      }
    },
  );
});

/** Uniformity cannot be seen; a component is taken as uniform unless a context panel shows otherwise. */
function asProblem(seen: SeenProblem, variant: Variant): Problem {
  const { layout, panels, candidates, target, rules } = seen;
  const uniformity = layout.components.map((_, component) => {
    const mixed = panels.some(({ components }) => {
      const [first, ...rest] = components[component].entities;
      return rest.some(
        (e) => e.type !== first.type || e.size !== first.size || e.color !== first.color,
      );
    });
    return mixed ? 0 : 3;
  });
  const known = (panel: Panel): Panel => ({
    components: panel.components.map(({ entities }, component) => ({
      uniformity: uniformity[component],
      entities,
    })),
  });
  return {
    configuration: layout.configuration,
    noisy: layout.noisy,
    variant,
    context: panels.slice(0, 8).map(known),
    candidates: candidates.map((panel) => ({ panel: known(panel), changes: [] })),
    target,
    rules: rules as readonly ComponentRules[],
  };
}

/** Small squares of two sizes look the same: a problem that shows one has no certain levels. */
const hasTwins = ({ layout, panels, candidates }: SeenProblem): boolean =>
  layout.configuration === 'out-in-grid' &&
  [...panels, ...candidates].some(({ components }) =>
    components[1].entities.some(({ type, size }) => type === 2 && size === 2),
  );

/** Where entities that differ change places, only their order in the data tells which went where. */
const needsOrder = ({ rules, context }: Problem): boolean =>
  rules.some(
    ([{ name, attribute }], component) =>
      name === 'Distribute_Three' &&
      attribute === 'Position' &&
      context[0].components[component].uniformity === 0,
  );

const LONG = Boolean(process.env.CRAB_TEST_LONG);
const PROBLEMS = LONG ? 400 : 40;
/** By default only the layouts without rotation: drawing all turned figures to compare takes long. */
const RECOGNISED = ALL_LAYOUTS.filter(
  ({ components: [{ angle }] }) => LONG || angle.min === angle.max,
);

describe
  .skipIf(!hasReferenceSets)
  .each(RECOGNISED.map((layout) => [layout.folder, layout] as const))(
  'reference set %s, recognised from its images',
  (_, layout) => {
    const recogniser = new Recogniser(layout);

    test.each(PAPER_VARIANTS)('%s: the labelled rules agree with the panels', (variant) => {
      let checked = 0;
      let index = 0;
      for (const seen of recognisedProblems(layout, variant, recogniser)) {
        if (index === PROBLEMS) break;
        index++;
        if (hasTwins(seen)) continue;
        const problem = asProblem(seen, variant);
        const name = `problem ${index}`;
        if (needsOrder(problem)) {
          expect(candidatesConsistentWith(problem), name).toContain(problem.target);
          expectInferred(problem, name);
        } else {
          expectAgreement(problem, name);
        }
        checked++;
      }
      expect(checked).toBeGreaterThan(PROBLEMS / 4);
    });
  },
);

test.each(KINDS)('%s: a broken rule is noticed', (_, layout, variant) => {
  const { configuration, noisy } = layout;
  for (let index = 0; index < (LONG ? 500 : 50); index++) {
    const problem = sampleProblem({ configuration, noisy, variant, seed: 6, index });
    const { context, candidates, target, rules } = problem;
    for (const [candidate, { panel }] of candidates.entries()) {
      expect(rulesHold(layout, rules, [...context, panel])).toBe(candidate === target);
    }
  }
});
