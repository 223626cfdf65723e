/** Opens pages in Chromium and looks at them as a reader would. */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';

export interface SeenFigure {
  readonly id: string;
  readonly width: number;
  readonly height: number;
  /** Elements that draw something. */
  readonly marks: number;
  readonly caption: string;
  /** Pictures that did not load. */
  readonly broken: number;
}

export interface SeenPage {
  readonly complaints: readonly string[];
  readonly requests: readonly string[];
  readonly figures: readonly SeenFigure[];
  /** Violations that axe finds, with where. */
  readonly barriers: readonly string[];
  /** Whether the page itself scrolls sideways. */
  readonly tooWide: boolean;
  readonly background: string;
}

const LOOK = `(async () => {
  const figures = [...document.querySelectorAll('figure')];
  return Promise.all(figures.map(async (figure) => {
    const svg = figure.querySelector('svg');
    const box = svg.getBoundingClientRect();
    const images = [...svg.querySelectorAll('image')];
    const loaded = await Promise.all(images.map((image) => {
      const picture = new Image();
      picture.src = image.getAttribute('href');
      return picture.decode().then(() => picture.naturalWidth > 0, () => false);
    }));
    return {
      id: figure.id,
      width: box.width,
      height: box.height,
      marks: svg.querySelectorAll('path, circle, rect, line, text, image').length,
      caption: figure.querySelector('figcaption').textContent,
      broken: loaded.filter((fine) => !fine).length,
    };
  }));
})()`;

const AXE = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map((n) => n.html.slice(0, 120)).join(' | ')))`;

/** Opens a file and reports on it. */
export async function lookAt(
  browser: Browser,
  file: string,
  colorScheme: 'light' | 'dark' = 'light',
): Promise<SeenPage> {
  const page = await browser.newPage({ colorScheme, viewport: { width: 1000, height: 800 } });
  const complaints: string[] = [];
  const requests: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith('data:')) requests.push(request.url());
  });
  try {
    await page.goto(pathToFileURL(file).href);
    const figures = await page.evaluate<SeenFigure[]>(LOOK);
    await page.addScriptTag({
      path: createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
    });
    const barriers = await page.evaluate<string[]>(AXE);
    const tooWide = await page.evaluate<boolean>(
      'document.documentElement.scrollWidth > document.documentElement.clientWidth',
    );
    const background = await page.evaluate<string>(
      'getComputedStyle(document.body).backgroundColor',
    );
    return { complaints, requests, figures, barriers, tooWide, background };
  } finally {
    await page.close();
  }
}
