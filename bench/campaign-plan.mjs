// Plans of campaigns (`campaign.mjs`): what they stand for, and what is started next.
import { CONFIGURATIONS } from '../dist/matrix/index.js';

/**
 * The trainings that the groups of a plan stand for. A plan is a list of groups:
 *
 *   { "systems": ["scl"], "presets": ["paper"], "configurations": ["center", …] or "all",
 *     "tag": "context-blind" (optional), "seconds": 70 (optional, see `admitted`),
 *     "train": [flags of crab train], "evaluate": [flags of crab evaluate] (optional),
 *     "export": [flags of crab export] (optional), "pictures": true if it shall show what it paints (optional) }
 *
 * Seconds may be one number, or one for each system by its name.
 */
export function trainingsOf(plan) {
  const isGroup = (group) =>
    [group?.systems, group?.presets, group?.train].every(Array.isArray) &&
    (group.configurations === 'all' || Array.isArray(group.configurations));
  if (!Array.isArray(plan) || !plan.every(isGroup)) {
    throw new Error('a plan is a list of groups with systems, presets, configurations and train');
  }
  const trainings = plan.flatMap(({ systems, presets, configurations, tag, seconds, ...steps }) => {
    const wanted = configurations === 'all' ? CONFIGURATIONS : configurations;
    return systems.flatMap((system) =>
      presets.flatMap((preset) =>
        wanted.map((config) => ({
          name: [system, preset, config, tag].filter(Boolean).join('-'),
          flags: ['--system', system, '--preset', preset, '--config', config],
          seconds: typeof seconds === 'object' ? seconds[system] : seconds,
          ...steps,
        })),
      ),
    );
  });
  const names = trainings.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined) throw new Error(`the plan has ${twice} twice: give one of them a tag`);
  return trainings;
}

/**
 * Those trainings that a GPU has time for, first come, first served, the longest first: at the end none is
 * left alone with the GPU. `seconds` of a training are those of the whole GPU that it takes; while several train
 * at once, each lasts as many times longer. Trainings that tell no seconds take none.
 */
export function admitted(trainings, seconds) {
  let left = seconds;
  const taken = trainings.filter(({ seconds: own = 0 }) => {
    if (own > left) return false;
    left -= own;
    return true;
  });
  return [...taken].sort((a, b) => (b.seconds ?? 0) - (a.seconds ?? 0));
}
