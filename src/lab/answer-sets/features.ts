/**
 * What the eight candidates of a problem tell without its context, as numbers: for each attribute of a
 * candidate its value and how many candidates share it, and whether its entities are alike.
 */
import {
  CANDIDATE_ATTRIBUTES,
  COLORS,
  SIZES,
  TYPES,
  type CandidateAttribute,
  type ComponentPanel,
  type Entity,
  type Panel,
} from '../../matrix/index.js';
import { rising } from '../numbers.js';

/** An attribute of a component as a text that two panels share if they look the same in it. */
function valueOf({ entities }: ComponentPanel, attribute: CandidateAttribute): string {
  const different = (level: (entity: Entity) => number): string =>
    rising(entities.map(level)).join();
  switch (attribute) {
    case 'Number':
      return String(entities.length);
    case 'Position':
      return entities
        .map(({ slot }) => slot)
        .sort((a, b) => a - b)
        .join();
    case 'Type':
      return different(({ type }) => type);
    case 'Size':
      return different(({ size }) => size);
    case 'Color':
      return different(({ color }) => color);
  }
}

/** For each candidate and each attribute of each component: the share of candidates with its value. */
export function sharedValues(candidates: readonly Panel[]): number[][] {
  const columns = candidates[0].components.flatMap((_, component) =>
    CANDIDATE_ATTRIBUTES.map((attribute) =>
      candidates.map(({ components }) => valueOf(components[component], attribute)),
    ),
  );
  return candidates.map((_, i) =>
    columns.map(
      (values) => values.filter((value) => value === values[i]).length / candidates.length,
    ),
  );
}

/** Levels of the entities of a component as shares, and how many different ones there are. */
function levelShares(entities: readonly Entity[]): number[] {
  const shares = (levels: readonly number[], size: number): number[] => {
    const counts = Array<number>(size).fill(0);
    for (const level of levels) counts[level] += 1 / levels.length;
    return [...counts, new Set(levels).size / levels.length];
  };
  return [
    ...shares(
      entities.map(({ type }) => type),
      TYPES.length,
    ),
    ...shares(
      entities.map(({ size }) => size),
      SIZES.length,
    ),
    ...shares(
      entities.map(({ color }) => color),
      COLORS.length,
    ),
    entities.length / 9,
  ];
}

/** The numbers of each candidate that a context-blind network sees. */
export function blindFeatures(candidates: readonly Panel[]): number[][] {
  const shared = sharedValues(candidates);
  return candidates.map(({ components }, i) => [
    ...shared[i],
    ...shared[i].map((share) => share * share),
    ...components.flatMap(({ entities }) => levelShares(entities)),
  ]);
}

/**
 * The chance of choosing the answer if whoever has the most common values is chosen: among all that
 * are equal in this, one at random.
 */
export function majorityHit(candidates: readonly Panel[], target: number): number {
  const scores = sharedValues(candidates).map((shares) =>
    shares.reduce((sum, share) => sum + Math.round(share * candidates.length), 0),
  );
  const best = Math.max(...scores);
  const tied = scores.filter((score) => score === best).length;
  return scores[target] === best ? 1 / tied : 0;
}
