/** A rule that CRAB read has one name on the page: that of the symbols, wherever its place on the map lies. */
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { layoutOf, panelsOf, sampleProblem } from '../../src/matrix/index.js';
import { Solver } from '../../src/solver/node.js';
import { readConceptRules } from '../../src/studio/engine/rule-words.js';
import { ruleWords, wordsForConcepts } from '../../src/studio/engine/words.js';
import { CHROMIUM } from '../chromium.js';
import { eventually, goTo, moveTo, openPage } from './browser.js';
import { visitedSite } from './visited-site.js';
import { arePublished, ZOO } from '../project.js';

const hasModel = arePublished('center');

/** A matrix with a concept whose place on the map tells of another rule than the symbols do. */
async function differing() {
  const solver = await Solver.load(path.join(ZOO, 'center'));
  try {
    const { conceptNames } = solver.manifest;
    const names = conceptNames.map((known) => known?.name ?? null);
    const own = wordsForConcepts(layoutOf('center'), names).map(({ subject }) => subject);
    const known = solver.ruleMap === null ? null : readConceptRules(solver.ruleMap, own);
    for (let seed = 1; seed <= 60; seed++) {
      const problem = sampleProblem({
        configuration: 'center',
        variant: 'i-raven',
        seed,
        index: 0,
      });
      const answer = await solver.solve(panelsOf(problem).panels, { missing: [9] });
      const shape = solver.nameRules(answer)?.find(({ group }) => group === 'Type');
      const read = shape?.rules.map(ruleWords) ?? [];
      for (const { concept, vector } of answer.rules) {
        const place = known?.[concept - 1].nameOf(vector) ?? null;
        const isShape = place?.attribute === 'Type' && conceptNames[concept - 1]?.name !== 'unused';
        if (isShape && read.length === 1 && !read.includes(place.rule)) {
          return { seed, concept, place: place.rule, read: read[0] };
        }
      }
    }
  } finally {
    await solver.dispose();
  }
  throw new Error('in no matrix the two differ: take another configuration');
}

describe.skipIf(CHROMIUM === undefined || !hasModel)('the name of a rule', () => {
  const site = visitedSite({ zoo: ZOO, isolated: true });

  test('is the same on the rule map as in Why, and the map says what lies around it', async () => {
    const { seed, concept, place, read } = await differing();
    const { page, errors } = await openPage(await site.fresh());
    await goTo(page, site.url, `tab=why&config=center&seed=${seed}`);
    await eventually(() => page.locator('.machine').innerText()).toContain(read);
    await moveTo(page, `tab=rules&config=center&seed=${seed}&concept=${concept}`);
    const words = page.getByTestId('rule-words');
    await eventually(() => words.locator('strong').first().innerText()).toBe(read);
    await eventually(() => words.innerText()).toContain(
      `of the known matrices around the dot have ${place}.`,
    );
    // A rule that a person puts into its place is named by the place alone.
    const dot = page.locator('[role=application]');
    await dot.focus();
    await page.keyboard.press('ArrowRight');
    await eventually(() => page.url()).toContain('rule=');
    await eventually(() => words.innerText()).not.toContain('Named from the symbols');
    expect(errors).toEqual([]);
  });
});
