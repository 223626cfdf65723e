import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EventHub } from '../../src/server/event-hub.js';
import { HttpFault, sentenceOf } from '../../src/server/faults.js';
import { LIMITS } from '../../src/server/limits.js';
import { Curves, thinned } from '../../src/server/training/curves.js';
import { isRunName } from '../../src/server/training/stored-runs.js';

describe('curves', () => {
  test('too long a list keeps its last point and an even choice of the others', () => {
    for (const length of [0, 1, 9, 10, 11, 25, 1000]) {
      const list = Array.from({ length }, (_, i) => i);
      const kept = thinned(list, 10);
      expect(kept.length).toBeLessThanOrEqual(10);
      expect(kept.at(-1)).toBe(list.at(-1));
      expect(new Set(kept.slice(1).map((value, i) => value - kept[i])).size).toBeLessThanOrEqual(1);
    }
  });

  test('a long run stays within bounds, and a resumed one takes its later steps again', () => {
    const curves = new Curves();
    for (let step = 1; step <= 20_000; step++) {
      curves.addStep({ step, terms: { loss: step } });
      curves.addValidation({ step, accuracy: { raven: step / 20_000 } });
    }
    const { steps, validations } = curves.history('run');
    expect(steps.length).toBeGreaterThan(400);
    expect(steps.length).toBeLessThanOrEqual(1000);
    expect(validations.length).toBeLessThanOrEqual(1000);
    expect([steps.at(-1)?.step, validations.at(-1)?.step]).toEqual([20_000, 20_000]);
    curves.rewindTo(5000);
    expect(curves.history('run').steps.every(({ step }) => step <= 5000)).toBe(true);
    expect(curves.lastAccuracy?.raven).toBeLessThanOrEqual(0.25);
  });
});

describe('listeners', () => {
  let server: Server;
  let port: number;
  const hub = new EventHub<{ big: string; first: number }>();
  const refused: unknown[] = [];

  beforeAll(async () => {
    server = createServer((_, response) => {
      hub
        .add(response, (send) => Promise.resolve(send('first', 1)))
        .catch((error: unknown) => {
          refused.push(error);
          response.writeHead(503).end();
        });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ({ port } = server.address() as AddressInfo);
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  /** Connects; the answer is not read until someone does. */
  const connect = (): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      request({ port, host: '127.0.0.1', agent: false }, resolve).on('error', reject).end();
    });

  const until = async (isSo: () => boolean): Promise<void> => {
    while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 10));
  };

  test('one that does not read is dropped; one that does is not', async () => {
    const reader = await connect();
    let read = 0;
    reader.on('data', (data: Buffer) => (read += data.length)).on('error', () => {});
    const stuck = await connect();
    stuck.on('error', () => {});
    await until(() => hub.listeners === 2);
    const text = 'x'.repeat(1 << 20);
    let sent = 0;
    while (hub.listeners === 2) {
      hub.send('big', text);
      sent++;
      const wanted = sent << 20;
      await until(() => read >= wanted);
    }
    // Beside what waits in the server, the system keeps some megabytes under way.
    expect(sent << 20).toBeGreaterThan(LIMITS.listenerBacklog);
    expect(sent).toBeLessThan(64);
    hub.send('big', text);
    await until(() => read >= (sent + 1) << 20);
    expect(hub.listeners).toBe(1);
    reader.destroy();
    stuck.destroy();
    await until(() => hub.listeners === 0);
  });

  test('there is room for so many, and again when one has left', async () => {
    const all = await Promise.all(Array.from({ length: LIMITS.listeners }, connect));
    await until(() => hub.listeners === LIMITS.listeners);
    const late = await connect();
    expect(late.statusCode).toBe(503);
    expect(refused.at(-1)).toBeInstanceOf(HttpFault);
    late.destroy();
    for (const each of all) each.on('error', () => {});
    all[0].destroy();
    await until(() => hub.listeners === LIMITS.listeners - 1);
    const next = await connect();
    expect(next.statusCode).toBe(200);
    hub.close();
    await until(() => hub.listeners === 0);
  });
});

describe('sentences', () => {
  test('name what the system refuses, even deep inside', () => {
    const cause = Object.assign(new Error('ENOSPC: write'), { code: 'ENOSPC', path: 'runs/a' });
    const error = new Error('saving failed', { cause: new Error('inner', { cause }) });
    expect(sentenceOf(error)).toBe('runs/a: no space left on the device');
    expect(sentenceOf(new Error('first line\nsecond'))).toBe('first line');
    expect(sentenceOf('text')).toBe('text');
    expect(sentenceOf(new Error(''))).toBe('it failed without a message');
  });
});

test.each([
  ['center-small-0', true],
  ['Nine_2.b', true],
  ['..', false],
  ['.hidden', false],
  ['a/b', false],
  ['a\\b', false],
  ['a.', false],
  ['', false],
  ['ü', false],
])('a run may be called %j: %s', (name, right) => {
  expect(isRunName(name)).toBe(right);
});
