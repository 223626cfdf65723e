/**
 * How long the page's own thread is held up: `npx tsx test/studio/long-tasks.ts`. A model loads and solves
 * and every view is looked at; each view's longest task is printed, in milliseconds on the processor, not
 * on the clock, because networks run beside it on all cores. Takes the built page and the zoo's grid-3x3,
 * the model with the most concepts. Over 50 ms a person may notice.
 */
import type { CDPSession, Page } from 'playwright-core';
import { launch } from '../chromium.js';
import { LAPTOP, modelReady, moveTo, openPage, requirePage } from './browser.js';
import { servePage } from './served-page.js';

const ROUNDS = 5;
const CONFIGURATION = 'grid-3x3';

/** Views, each with what it shows last. */
const VIEWS: readonly (readonly [hash: string, last: string])[] = [
  ['tab=play&seed=3&picked=2&shown=1', '.cell.imagined canvas'],
  ['tab=erase&seed=8&missing=12346789', '.sureness-list [data-position="9"] canvas'],
  ['tab=why&seed=8', '.mini-map'],
  ['tab=rules&seed=8&concept=1', '.plane-base svg'],
  ['tab=rules&seed=8&concept=2&rule=2,0.400,0.400', '.mark.imposed'],
  ['tab=make&seed=9', '[data-testid=reading] .drawing'],
];

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** When it began, in microseconds. */
  readonly ts: number;
  /** Microseconds on the processor. */
  readonly tdur?: number;
}

/** What Chromium did while `work` ran. */
async function traced(session: CDPSession, work: () => Promise<void>): Promise<TraceEvent[]> {
  const events: TraceEvent[] = [];
  session.on('Tracing.dataCollected', ({ value }) =>
    events.push(...(value as unknown as TraceEvent[])),
  );
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: ['toplevel', 'blink.user_timing'] },
  });
  await work();
  const complete = new Promise<void>((done) =>
    session.once('Tracing.tracingComplete', () => done()),
  );
  await session.send('Tracing.end');
  await complete;
  return events;
}

const markOf = (hash: string): string => `at ${hash}`;
const mark = (page: Page, hash: string): Promise<void> =>
  page.evaluate(`performance.mark(${JSON.stringify(markOf(hash))})`);

/** The longest task after each mark and before the next, in milliseconds. */
function longestTasks(events: readonly TraceEvent[], hashes: readonly string[]): number[] {
  const marks = hashes.map((hash) => events.find(({ name }) => name === markOf(hash)));
  return marks.map((start, i) => {
    if (start === undefined) throw new Error(`the trace has no mark of ${hashes[i]}`);
    const end = marks[i + 1]?.ts ?? Infinity;
    const tasks = events.filter(
      ({ name, pid, tid, ts }) =>
        name.endsWith('RunTask') &&
        pid === start.pid &&
        tid === start.tid &&
        ts >= start.ts &&
        ts < end,
    );
    return Math.max(...tasks.map(({ tdur }) => (tdur ?? 0) / 1000));
  });
}

requirePage();
const host = await servePage({ isolated: true });
const browser = await launch();
const LOADING = 'tab=play&seed=3';
const hashes = [LOADING, ...VIEWS.map(([hash]) => hash)];
const rounds: number[][] = [];
for (let round = 0; round < ROUNDS; round++) {
  const context = await browser.newContext({ viewport: LAPTOP });
  const { page } = await openPage(context);
  const session = await context.newCDPSession(page);
  // The page's own start is over; the model is on its way.
  await page.goto(`${host.url}#${LOADING}&config=${CONFIGURATION}`);
  const events = await traced(session, async () => {
    await mark(page, LOADING);
    await modelReady(page);
    for (const [hash, last] of VIEWS) {
      await mark(page, hash);
      await moveTo(page, `${hash}&config=${CONFIGURATION}`);
      await page.locator(last).first().waitFor();
      await page.waitForLoadState('networkidle');
    }
  });
  rounds.push(longestTasks(events, hashes));
  await context.close();
}
for (const [i, hash] of hashes.entries()) {
  const times = rounds.map((longest) => longest[i].toFixed(0).padStart(4)).join('');
  process.stdout.write(`${times} ms  ${i === 0 ? 'the model loads' : hash}\n`);
}
await browser.close();
await host.close();
