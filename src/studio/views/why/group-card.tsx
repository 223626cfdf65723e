/**
 * Concepts that belong together: a film of the values they really take, painted into the imagined panel,
 * and where their rules lie on the rule map.
 */
import type { ModelInfo, RuleView } from '../../engine/protocol.js';
import { Pixels } from '../../parts/panel.js';
import { RuleName } from '../../parts/term.js';
import { useAsync } from '../../parts/use-async.js';
import { change, engine, planeOf, spec } from '../../state/store.js';
import { MiniMap } from './mini-map.js';

/** Concepts of one card; `film` is the index of their group, null without a vocabulary. */
export interface ConceptGroup {
  readonly title: string;
  readonly concepts: readonly number[];
  readonly film: number | null;
}

/** Groups of the vocabulary; without one every concept stands for itself. */
export function groupsOf(info: ModelInfo): ConceptGroup[] {
  if (info.groups.length > 0) return info.groups.map((group, film) => ({ ...group, film }));
  return info.concepts.map((title, m) => ({ title, concepts: [m + 1], film: null }));
}

/** What its rule says here, if no vocabulary names it: what the known matrices around it were. */
function RuleSentence({ rule: { words, isFar } }: { readonly rule: RuleView }) {
  if (words === null) {
    return (
      <p class="rule-words">
        {isFar
          ? 'No known matrix has a rule near the one read here.'
          : 'Its rule tells of no single attribute.'}
      </p>
    );
  }
  return (
    <p class="rule-words">
      Read here, of {words.subject.toLowerCase()}:{' '}
      <strong>
        <RuleName rule={words.rule} />
      </strong>
      {words.share < 0.8 && ', or one close to it'}
    </p>
  );
}

function Film({ info, group }: { readonly info: ModelInfo; readonly group: number }) {
  const wanted = spec.value;
  const film = useAsync(
    () => engine.film(wanted, group),
    JSON.stringify([wanted, info.name, group]),
  ).value;
  return (
    <div class="film" data-testid="film">
      <ol>
        {film?.frames.map(({ image, words, isOwn }) => (
          <li key={words} class={isOwn ? 'own' : ''} title={words}>
            <Pixels values={image} label={`${words}${isOwn ? ', as imagined' : ''}`} />
          </li>
        ))}
      </ol>
      {film !== null && film.count > film.frames.length && (
        <p class="aside">
          {film.frames.length} of the {film.count} values it takes.
        </p>
      )}
    </div>
  );
}

function ToMap({ info, rule }: { readonly info: ModelInfo; readonly rule: RuleView }) {
  const { concept } = rule;
  const name = info.concepts[concept - 1];
  const plane = useAsync(
    info.moments.length > 0 && info.ruleSize === 2 ? () => planeOf(info, concept) : null,
    `${info.name} ${concept}`,
  ).value;
  if (plane === null) return null;
  return (
    <button
      type="button"
      class="to-map"
      onClick={() => change({ tab: 'rules', concept }, true)}
      aria-label={`${name} on the rule map`}
      title="Open on the rule map"
    >
      <MiniMap plane={plane} rule={rule} />
      <span>{name}</span>
    </button>
  );
}

export function GroupCard({
  info,
  group,
  rules,
}: {
  readonly info: ModelInfo;
  readonly group: ConceptGroup;
  readonly rules: readonly RuleView[];
}) {
  const { title, concepts, film } = group;
  // A model without rules has concepts all the same.
  const own = rules.filter(({ concept }) => concepts.includes(concept));
  return (
    <article class="card" aria-label={title} data-concept={concepts[0]}>
      <h3>{title}</h3>
      {film !== null && <Film info={info} group={film} />}
      {film === null && own.length > 0 && <RuleSentence rule={own[0]} />}
      <div class="card-maps">
        {own.map((rule) => (
          <ToMap key={rule.concept} {...{ info, rule }} />
        ))}
      </div>
    </article>
  );
}
