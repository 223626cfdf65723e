/** Checks what the page asks for; nothing in it is trusted. */
import { boolean, integer, number, object, oneOf, read, text } from '../../base/index.js';
import { findLayout, layoutName } from '../../matrix/index.js';
import type { NewRunJob } from './protocol.js';
import { BadRequest } from '../faults.js';
import { isRunName } from './stored-runs.js';

/** Presets for a person who waits: the small one first, and the one the published models have. */
export const STUDIO_PRESETS = ['small', 'crab'] as const;

const MOST_MINUTES = 24 * 60;
const LEAST_MINUTES = 0.05;

/** The JSON object that came with a request. */
export type Body = Readonly<Record<string, unknown>>;

const newRun = object({
  configuration: text(100),
  noisy: boolean,
  preset: oneOf(STUDIO_PRESETS),
  device: text(100),
  minutes: number({ min: LEAST_MINUTES, max: MOST_MINUTES }),
  seed: integer({ min: 0 }),
});

const wanted = object({
  name: (given) => {
    const name = text()(given);
    return isRunName(name) ? name : given.expected('the name of a run');
  },
});

/** A new run as asked for, without its folder, and the name it would like. */
export function newRunOf(
  body: Body,
  devices: readonly string[],
): { readonly name: string; readonly job: Omit<NewRunJob, 'run'> } {
  const request = read(newRun, body, BadRequest);
  const device = read(oneOf(devices), request.device, BadRequest, 'device');
  const { preset, minutes, seed } = request;
  const layout = layoutOf(request.configuration, request.noisy);
  const { configuration, noisy } = layout;
  return {
    name: `${layoutName(layout)}-${preset}-${seed}`,
    job: { kind: 'train', configuration, noisy, preset, device, seconds: 60 * minutes, seed },
  };
}

function layoutOf(name: string, noisy: boolean): ReturnType<typeof findLayout> {
  try {
    return findLayout(name, noisy);
  } catch (error) {
    throw new BadRequest((error as Error).message);
  }
}

/** The name of a run a request is about. */
export const runNameOf = (body: Body): string => read(wanted, body, BadRequest).name;
