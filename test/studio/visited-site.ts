/** The page on a host with bundles, and a browser before it, for the tests of one `describe`. */
import path from 'node:path';
import type { Browser, BrowserContext } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import type { Configuration } from '../../src/matrix/index.js';
import { Solver } from '../../src/solver/node.js';
import { launch } from '../chromium.js';
import { scratchFolder } from '../scratch-folder.js';
import { goTo, LAPTOP, openPage, requirePage, type WatchedPage } from './browser.js';
import { writeBundle } from './bundles.js';
import { servePage, type Host, type HostOptions } from './served-page.js';

type ContextOptions = Parameters<Browser['newContext']>[0];

/**
 * Most pages of tests live for seconds. To compile their WebAssembly a second time, so that it runs faster,
 * takes longer than it saves.
 */
const COMPILE_ONCE = '--js-flags=--liftoff-only';

/** Without a service worker, whose requests a test cannot stand in for. */
export const UNASSISTED = { viewport: LAPTOP, serviceWorkers: 'block' as const };

export interface SiteOptions extends HostOptions {
  /** Tiny bundles to put into a zoo of its own. */
  readonly bundles?: readonly Configuration[];
  /** Flags of the browser. */
  readonly flags?: readonly string[];
}

/** Everything but the zoo is there once the tests run. */
export interface Site {
  readonly zoo: string;
  readonly host: Host;
  readonly url: string;
  readonly browser: Browser;
  /** A visitor whom nothing is known of; gone after the test. */
  fresh(options?: ContextOptions): Promise<BrowserContext>;
}

export function visitedSite({ bundles = [], flags = [], ...options }: SiteOptions): Site {
  const zoo = options.zoo ?? scratchFolder();
  const contexts: BrowserContext[] = [];
  let host: Host;
  let browser: Browser;
  beforeAll(async () => {
    requirePage();
    for (const configuration of bundles) await writeBundle(zoo, configuration);
    host = await servePage({ ...options, zoo });
    browser = await launch([COMPILE_ONCE, ...flags]);
  });
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
  });
  afterAll(async () => {
    await browser.close();
    await host.close();
  });
  return {
    zoo,
    get host() {
      return host;
    },
    get url() {
      return host.url;
    },
    get browser() {
      return browser;
    },
    fresh: async (wanted = { viewport: LAPTOP }) => {
      const context = await browser.newContext(wanted);
      contexts.push(context);
      return context;
    },
  };
}

/** A page that stays open, and the solver of its model in Node. */
export interface SharedPage extends WatchedPage {
  readonly context: BrowserContext;
  readonly solver: Solver;
}

/**
 * One page for all tests, on the model for center: what a test sees follows from the address alone, and
 * the model loads once. After each test it must have no errors.
 */
export function sharedPage(site: Site): SharedPage {
  let context: BrowserContext;
  let solver: Solver;
  let opened: WatchedPage;
  beforeAll(async () => {
    solver = await Solver.load(path.join(site.zoo, 'center'));
    context = await site.browser.newContext({ viewport: LAPTOP });
    opened = await openPage(context);
    await goTo(opened.page, site.url, 'tab=play&config=center&seed=999');
  });
  afterEach(() => {
    expect(opened.errors).toEqual([]);
  });
  afterAll(() => solver.dispose());
  return {
    get context() {
      return context;
    },
    get solver() {
      return solver;
    },
    get page() {
      return opened.page;
    },
    get errors() {
      return opened.errors;
    },
  };
}
