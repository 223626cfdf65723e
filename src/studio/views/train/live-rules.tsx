/** The rule map while it forms: for each concept the rules parsed from fixed matrices. */
import { useMemo } from 'preact/hooks';
import { lookOfWords } from '../../parts/rule-looks.js';
import type { RulesUpdate } from '../../../protocol/index.js';
import { rules } from './connection.js';
import { KindLegend } from './kind-legend.js';
import { SmallPlane } from './small-plane.js';

type Point = readonly [x: number, y: number];

/** Share of the points' variance that lies between classes, 0..1. */
function separation(points: readonly Point[], classes: readonly string[]): number {
  const groups = new Map<string, Point[]>();
  points.forEach((point, n) => {
    const group = groups.get(classes[n]);
    if (group === undefined) groups.set(classes[n], [point]);
    else group.push(point);
  });
  const scatter = (list: readonly Point[]): number => {
    const mean = [0, 1].map((k) => list.reduce((sum, point) => sum + point[k], 0) / list.length);
    return list.reduce((sum, [x, y]) => sum + (x - mean[0]) ** 2 + (y - mean[1]) ** 2, 0);
  };
  const total = scatter(points);
  const inside = [...groups.values()].reduce((sum, group) => sum + scatter(group), 0);
  return total > 0 ? 1 - inside / total : 0;
}

/** True rules of the attribute that tells a concept's points apart best, one for each problem. */
function classesOf(truth: RulesUpdate['truth'], points: readonly Point[]): readonly string[] {
  const attributes = truth.at(0)?.length ?? 0;
  const named = Array.from({ length: attributes }, (_, a) => truth.map((of) => of[a]));
  const scores = named.map((classes) => separation(points, classes));
  return named.at(scores.indexOf(Math.max(...scores))) ?? [];
}

function ConceptPlane({
  update,
  concept,
}: {
  readonly update: RulesUpdate;
  readonly concept: number;
}) {
  const dots = useMemo(() => {
    const points = update.rules.map((of): Point => [of[concept][0], of[concept][1] ?? 0]);
    const classes = classesOf(update.truth, points);
    return points.map(([x, y], n) => ({ x, y, ...lookOfWords(classes[n] ?? '') }));
  }, [update, concept]);
  return (
    <figure class="live-plane">
      <SmallPlane dots={dots} />
      <figcaption>Concept {concept + 1}</figcaption>
    </figure>
  );
}

export function LiveRules() {
  const update = rules.value;
  const concepts = update?.rules.at(0)?.length ?? 0;
  return (
    <section class="live-rules" aria-label="Rule map">
      <h2>The rules it finds{update !== null && ` at step ${update.step.toLocaleString('en')}`}</h2>
      <p class="hint">
        {update === null
          ? 'They come with the first look at its rules.'
          : 'Each point is the rule it read in one matrix, in the colour of the true rule, which it is never told.'}
      </p>
      {update !== null && <KindLegend />}
      <div class="live-planes">
        {update !== null &&
          Array.from({ length: concepts }, (_, m) => (
            <ConceptPlane key={m} update={update} concept={m} />
          ))}
      </div>
    </section>
  );
}
