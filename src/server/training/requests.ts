/** Checks what the page asks for; nothing in it is trusted. */
import { findLayout, layoutName } from '../../matrix/index.js';
import type { NewRunJob } from './protocol.js';
import { HttpFault } from '../faults.js';
import { isRunName } from './stored-runs.js';

/** Presets for a person who waits: the small one first, and the one the published models have. */
export const STUDIO_PRESETS = ['small', 'crab'] as const;

const MOST_MINUTES = 24 * 60;
const LEAST_MINUTES = 0.05;

/** The JSON object that came with a request. */
export type Body = Readonly<Record<string, unknown>>;

const wrong = (name: string, expected: string): HttpFault =>
  new HttpFault(400, `${name}: expected ${expected}`);

function requireKeys(body: Body, known: readonly string[]): void {
  const strange = Object.keys(body).find((key) => !known.includes(key));
  if (strange !== undefined) throw wrong(strange.slice(0, 40), `only ${known.join(', ')}`);
}

function layoutIn({ configuration, noisy }: Body): ReturnType<typeof findLayout> {
  if (typeof configuration !== 'string') throw wrong('configuration', 'the name of one');
  if (typeof noisy !== 'boolean') throw wrong('noisy', 'true or false');
  try {
    return findLayout(configuration.slice(0, 100), noisy);
  } catch (error) {
    throw new HttpFault(400, (error as Error).message);
  }
}

/** A new run as asked for, without its folder, and the name it would like. */
export function newRunOf(
  body: Body,
  devices: readonly string[],
): { readonly name: string; readonly job: Omit<NewRunJob, 'run'> } {
  requireKeys(body, ['configuration', 'noisy', 'preset', 'device', 'minutes', 'seed']);
  const layout = layoutIn(body);
  const { device, minutes, seed } = body;
  const preset = STUDIO_PRESETS.find((name) => name === body.preset);
  if (preset === undefined) throw wrong('preset', STUDIO_PRESETS.join(' or '));
  if (typeof device !== 'string' || !devices.includes(device)) {
    throw wrong('device', `one of ${devices.join(', ')}`);
  }
  if (typeof minutes !== 'number' || !(minutes >= LEAST_MINUTES && minutes <= MOST_MINUTES)) {
    throw wrong('minutes', `a number from ${LEAST_MINUTES} to ${MOST_MINUTES}`);
  }
  if (typeof seed !== 'number' || !Number.isSafeInteger(seed) || seed < 0) {
    throw wrong('seed', 'a whole number, 0 or more');
  }
  const { configuration, noisy } = layout;
  return {
    name: `${layoutName(layout)}-${preset}-${seed}`,
    job: { kind: 'train', configuration, noisy, preset, device, seconds: 60 * minutes, seed },
  };
}

/** The name of a run a request is about. */
export function runNameOf(body: Body): string {
  requireKeys(body, ['name']);
  const { name } = body;
  if (typeof name !== 'string' || !isRunName(name)) throw wrong('name', 'the name of a run');
  return name;
}
