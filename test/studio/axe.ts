/** axe, which finds what keeps people with disabilities out. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string }[];
}

export const loadAxe = (page: Page): Promise<unknown> => page.evaluate(source);

/** What is serious or critical on a page with axe, one line each. */
export async function seriousFaults(page: Page): Promise<string[]> {
  const violations = await page.evaluate<Violation[]>(
    'axe.run().then(({ violations }) => violations)',
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id} at ${nodes.map(({ html }) => html).join(' | ')}`);
}
