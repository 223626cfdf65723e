/** Chromium on the built page, with what tests of the page ask of it. */
import { existsSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { PAGE } from './served-page.js';
import { ROOT } from '../project.js';

/** Builds the page where it is not built; `npm test` has built it before. */
export function requirePage(): void {
  if (existsSync(path.join(PAGE, 'index.html'))) return;
  const vite = path.join(ROOT, 'node_modules', 'vite', 'bin', 'vite.js');
  execFileSync(process.execPath, [vite, 'build', '--config', 'vite.studio.config.mjs'], {
    cwd: ROOT,
    stdio: 'ignore',
  });
}

/** A page whose errors are collected: none may be left at the end of a test. */
export interface WatchedPage {
  readonly page: Page;
  readonly errors: string[];
}

/** Tall enough for every view: pointers reach only what is in sight. */
export const LAPTOP = { width: 1280, height: 1200 };

export const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

/** How long a page may take for one thing; only what never comes should fail. */
const PATIENCE = 120_000;

export async function openPage(context: BrowserContext): Promise<WatchedPage> {
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    // Chromium logs every answer that is not 200 as an error; the tests ask for such answers.
    const isAnswer = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isAnswer) errors.push(message.text());
  });
  return { page, errors };
}

export const modelReady = async (page: Page): Promise<void> => {
  await page.locator('[data-testid=backend][data-phase=ready]').waitFor();
};

/** The families of the page's own fonts that are in use, once no more are on their way. */
export const fontsOf = (page: Page): Promise<string[]> =>
  page.evaluate(
    "document.fonts.ready.then((all) => [...all].filter(({ status }) => status === 'loaded').map(({ family }) => family.replaceAll('\"', '')))",
  );

/** Goes to a state of the page and waits for its model. */
export async function goTo(page: Page, url: string, hash: string): Promise<void> {
  await page.goto('about:blank');
  await page.goto(`${url}#${hash}`);
  await modelReady(page);
}

/** Goes to another state within the open page, as a link within it does, and waits for its matrix. */
export async function moveTo(page: Page, hash: string): Promise<void> {
  const wanted = JSON.stringify(`#${hash}`);
  await page.evaluate(`new Promise((done) => {
    if (location.hash === ${wanted}) done();
    const settle = () => requestAnimationFrame(() => requestAnimationFrame(() => done()));
    addEventListener('hashchange', settle, { once: true });
    location.hash = ${wanted};
  })`);
  await page.locator('main[aria-busy=false]').waitFor();
}

/** Of a page's own types, which Node's do not know. */
interface PageCanvas {
  getContext(kind: '2d'): {
    getImageData(x: number, y: number, w: number, h: number): { data: ArrayLike<number> };
  };
}
interface PageElement {
  getAttribute(name: string): string | null;
}

/** Grey values in [0, 1] of a canvas of 64x64. */
export async function canvasPixels(canvas: Locator): Promise<number[]> {
  await canvas.waitFor();
  const bytes = await canvas.evaluate((element: unknown) => {
    const { data } = (element as PageCanvas).getContext('2d').getImageData(0, 0, 64, 64);
    return Array.from(data).filter((_, i) => i % 4 === 0);
  });
  return bytes.map((byte) => byte / 255);
}

export const labelsOf = (locator: Locator): Promise<string[]> =>
  locator.evaluateAll((all: unknown) =>
    (all as PageElement[]).map((element) => element.getAttribute('aria-label') ?? ''),
  );

/** A canvas holds bytes: half a step of rounding, and the last digits of two runtimes. */
export const CLOSE = 1.5 / 255;

export const largestDifference = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
  a.length === b.length
    ? Array.from(a).reduce((most, value, i) => Math.max(most, Math.abs(value - b[i])), 0)
    : Infinity;

/** Polls for long enough on a busy machine. */
export const eventually: typeof expect.poll = (read, options) =>
  expect.poll(read, { timeout: PATIENCE, interval: 60, ...options });

/** Where an element is once nothing moves it any more: fonts and pictures may still arrive. */
export async function steadyBox(element: Locator) {
  const box = async () => JSON.stringify(await element.boundingBox());
  let last = await box();
  await eventually(async () => {
    await element.page().waitForTimeout(100);
    const before = last;
    last = await box();
    return last !== 'null' && last === before;
  }).toBe(true);
  return JSON.parse(last) as { x: number; y: number; width: number; height: number };
}
