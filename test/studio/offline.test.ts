/** Without a network: everything on demand, and plain words if something is not there. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { CHROMIUM } from '../chromium.js';
import { eventually, goTo, modelReady, openPage } from './browser.js';
import { writeTransformer } from './bundles.js';
import { servePage } from './served-page.js';
import { visitedSite } from './visited-site.js';

const NAMES = ['center', 'grid-2x2'] as const;

describe.skipIf(CHROMIUM === undefined)('without a network', () => {
  const site = visitedSite({ bundles: NAMES });
  const writeIndex = (): void => {
    const bundles = NAMES.map((name) => ({ name, configuration: name, noisy: false, bytes: 1 }));
    writeFileSync(path.join(site.zoo, 'index.json'), JSON.stringify({ bundles }));
  };

  test('one button keeps every model, the Transformer too, with progress', async () => {
    await writeTransformer(site.zoo, NAMES);
    const own = await servePage({ zoo: site.zoo });
    const { page, errors } = await openPage(await site.fresh());
    await goTo(page, own.url, 'tab=play&config=center&seed=3');
    const status = page.getByRole('region', { name: 'Use without a network' }).getByRole('status');
    const bars = page.evaluate(`new Promise((done) => {
      const seen = new Set();
      new MutationObserver(() => {
        const bar = document.querySelector('.keep-offline progress');
        if (bar) seen.add(bar.value + ' of ' + bar.max);
        else if (seen.size > 0) done([...seen]);
      }).observe(document.body, { subtree: true, childList: true, attributes: true });
    })`);
    await page.getByRole('button', { name: 'Keep everything for offline' }).press('Enter');
    await eventually(() => status.innerText()).toBe(
      'All 3 models are on this device: the page works without a network.',
    );
    expect(await bars).toEqual(['0 of 4', '1 of 4', '2 of 4', '3 of 4']);
    // Loaded again, the page knows what it has, and offers it no more.
    const offer = page.getByRole('button', { name: 'Keep everything for offline' });
    await page.reload();
    await eventually(() => status.innerText()).toContain('All 3 models are on this device');
    expect(await offer.count()).toBe(0);
    // A file that is gone is missed, and can be kept again.
    await page.evaluate(`caches.open('crab-bundles-1').then(async (cache) => {
      const keys = await cache.keys();
      await cache.delete(keys.find(({ url }) => url.includes('/grid-2x2/')));
    })`);
    await page.reload();
    await offer.press('Enter');
    await eventually(() => status.innerText()).toContain('All 3 models are on this device');
    await own.close();
    // A model that was never looked at, on a page that is opened anew.
    await page.goto('about:blank');
    await page.goto(`${own.url}#tab=erase&config=grid-2x2&seed=9&missing=258`);
    await modelReady(page);
    await page.locator('[data-position="8"].cell canvas').waitFor();
    await page.goto('about:blank');
    await page.goto(`${own.url}#tab=compare&config=center&seed=9`);
    await page.locator('[data-contender=rival][data-missing="9"]').waitFor();
    expect(errors).toEqual([]);
  });

  test('what was not kept is missed in words, without an address', async () => {
    writeIndex();
    const own = await servePage({ zoo: site.zoo });
    const { page } = await openPage(await site.fresh());
    await goTo(page, own.url, 'tab=play&config=center&seed=3');
    await eventually(() =>
      page.evaluate("caches.match('zoo/center/bundle.json').then((found) => found !== undefined)"),
    ).toBe(true);
    await own.close();
    await page.evaluate("location.hash = 'tab=play&config=grid-2x2&seed=3'");
    const notice = page.locator('.notice[role=alert]');
    await eventually(() => notice.innerText()).toContain(
      'The model for grid-2x2 is not kept on this device, and where it comes from cannot be reached.',
    );
    expect(await page.locator('body').innerText()).not.toContain('http');
    await page.getByRole('button', { name: 'Keep everything for offline' }).click();
    await eventually(() => page.locator('.keep-offline').innerText()).toMatch(
      /Not everything could be kept: .* cannot be reached\./,
    );
  });
});
