import { afterEach, describe, expect, test } from 'vitest';
import { ProblemStream } from '../../src/training/feed/problem-stream.js';
import { makeRecord, PANELS_ONLY } from '../../src/training/feed/record.js';
import { createRing, RingConsumer, RingProducer } from '../../src/training/feed/ring.js';

const source = { configuration: 'center', noisy: false, seed: 9 } as const;
const open: ProblemStream[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((stream) => stream.close()));
});

const start = (first: number, workers: number, chunkProblems: number): ProblemStream => {
  const stream = new ProblemStream({ source, record: PANELS_ONLY, first, workers, chunkProblems });
  open.push(stream);
  return stream;
};

/** Every problem given, in order, with the index it came under. */
async function collect(stream: ProblemStream, counts: number[]): Promise<[number, Uint8Array][]> {
  const problems: [number, Uint8Array][] = [];
  for (const count of counts) {
    await stream.takeAll(count, (bytes, first, given) => {
      for (let n = 0; n < given; n++) {
        problems.push([first + n, bytes.slice(n * PANELS_ONLY.bytes, (n + 1) * PANELS_ONLY.bytes)]);
      }
    });
  }
  return problems;
}

describe('the stream of problems', () => {
  test('gives every problem once, in order, whatever the threads and chunks', async () => {
    const one = await collect(start(5, 1, 4), [1, 7, 3, 12]);
    const two = await collect(start(5, 3, 5), [23]);
    expect(one.map(([index]) => index)).toEqual(Array.from({ length: 23 }, (_, n) => n + 5));
    expect(two).toEqual(one);
    for (const [index, bytes] of one.slice(0, 6)) {
      const expected = new Uint8Array(PANELS_ONLY.bytes);
      makeRecord(PANELS_ONLY, source, index, expected, 0);
      expect(bytes).toEqual(expected);
    }
  });

  test('a stream begun later continues it', async () => {
    const [whole, later] = [start(0, 1, 8), start(16, 1, 8)];
    const all = await collect(whole, [24]);
    expect(await collect(later, [8])).toEqual(all.slice(16));
    expect(later.next).toBe(24);
  });

  test('taking never waits', () => {
    const stream = start(0, 1, 8);
    expect(stream.take(8, () => {})).toBeLessThanOrEqual(8);
  });

  test('waiting can be called off', async () => {
    const stream = start(0, 1, 2_000);
    const call = stream.takeAll(2_000, () => {}, AbortSignal.timeout(20));
    await expect(call).rejects.toThrow(/abort|timeout/i);
  });

  test('a thread that fails is an error for who takes', async () => {
    const bad = new ProblemStream({
      source: { configuration: 'center', noisy: true, seed: 1 },
      record: PANELS_ONLY,
      first: 0,
      workers: 1,
      chunkProblems: 32,
    });
    open.push(bad);
    await expect(bad.takeAll(1, () => {})).rejects.toThrow(/thread that makes problems failed/);
  });
});

describe('the ring', () => {
  test('a place is not given out again before its chunk was taken', () => {
    const memory = createRing(1, PANELS_ONLY.bytes, 2);
    const [producer, consumer] = [new RingProducer(memory), new RingConsumer(memory)];
    expect(producer.claim()).toBe(0);
    expect(producer.claim()).toBe(1);
    expect(consumer.isReady(0)).toBe(false);
    expect(producer.publish(0)).toBe(false);
    consumer.setWaiting(true);
    expect(producer.publish(1)).toBe(true);
    expect([consumer.isReady(0), consumer.isReady(1), consumer.isReady(2)]).toEqual([
      true,
      true,
      false,
    ]);
    consumer.release();
    expect(producer.claim()).toBe(2);
    expect(consumer.isReady(2)).toBe(false);
    consumer.stop();
    expect(producer.claim()).toBeNull();
  });
});
