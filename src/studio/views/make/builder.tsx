/**
 * The form for a matrix of one's own: for each attribute a rule and the value of the first panel. What the
 * one rules out of the other cannot be chosen, and it says why.
 */
import { findLayout, RULE_GROUPS, type RuleGroup } from '../../../matrix/index.js';
import { attributeWords, COMPONENTS, RULE_KINDS } from '../../engine/words.js';
import { changeMatrix, settings } from '../../state/store.js';
import {
  fixedRule,
  readDraft,
  ruleOptions,
  startKeyOf,
  startOptions,
  withRule,
  withStart,
  writeDraft,
  type Draft,
  type RuleOption,
} from './constraints.js';

const ANY = 'any';

interface FieldProps {
  readonly draft: Draft;
  readonly component: number;
  readonly group: RuleGroup;
}

function apply(draft: Draft): void {
  changeMatrix({ constraints: writeDraft(draft), seed: settings.peek().seed }, false);
}

function RuleSelect({
  draft,
  component,
  group,
  options,
}: FieldProps & { readonly options: readonly RuleOption[] }) {
  return (
    <select
      data-rule={`${component} ${group}`}
      aria-label={`Rule on ${attributeWords(group)}`}
      value={String(fixedRule(draft, component, options))}
      onChange={(event) => {
        const at = Number(event.currentTarget.value);
        apply(withRule(draft, component, group, at < 0 ? null : options[at].rule));
      }}
    >
      <option value="-1">any rule</option>
      {options.map(({ label, refusal }, i) => (
        <option key={label} value={String(i)} disabled={refusal !== null}>
          {refusal === null ? label : `${label}: ${refusal}`}
        </option>
      ))}
    </select>
  );
}

function StartSelect({
  draft,
  component,
  group,
  fixed,
}: FieldProps & { readonly fixed: RuleOption | undefined }) {
  const options = startOptions(findLayout(settings.value.layout), component, group, fixed);
  const key = startKeyOf(group);
  const name = key === 'number' ? 'Number' : attributeWords(group);
  if (options.length < 2) return <span />;
  return (
    <select
      data-start={`${component} ${key}`}
      aria-label={`${name} of the first panel`}
      value={String(draft.start[component][key] ?? ANY)}
      onChange={(event) => {
        const { value } = event.currentTarget;
        apply(withStart(draft, component, key, value === ANY ? null : Number(value)));
      }}
    >
      <option value={ANY}>any</option>
      {options.map(({ value, label, refusal }) => (
        <option key={value} value={String(value)} disabled={refusal !== null}>
          {label}
        </option>
      ))}
    </select>
  );
}

/** Rule and first value of one attribute, and what the rule does. */
function AttributeFields({ draft, component, group }: FieldProps) {
  const layout = findLayout(settings.value.layout);
  const options = ruleOptions(layout, draft, component, group);
  // What cannot change is not asked for.
  if (options.length < 2) return null;
  const at = fixedRule(draft, component, options);
  const chosen = at < 0 ? undefined : options[at];
  const refused = startOptions(layout, component, group, chosen).find(
    ({ refusal }) => refusal !== null,
  );
  return (
    <>
      <span class="attribute">{attributeWords(group)}</span>
      <RuleSelect draft={draft} component={component} group={group} options={options} />
      <StartSelect draft={draft} component={component} group={group} fixed={chosen} />
      {chosen !== undefined && (
        <p class="hint" data-meaning={`${component} ${group}`}>
          {chosen.meaning}
          {refused !== undefined && `; ${refused.refusal ?? ''}`}.
        </p>
      )}
    </>
  );
}

export function Builder() {
  const layout = findLayout(settings.value.layout);
  const draft = readDraft(settings.value.constraints, layout);
  return (
    <div class="builder">
      {layout.components.map((component, i) => (
        <fieldset key={component.name} class="component">
          <legend>{COMPONENTS[component.name] ?? component.name}</legend>
          <div class="attributes">
            <span />
            <span class="hint">Rule</span>
            <span class="hint">First panel</span>
            {RULE_GROUPS.map((group) => (
              <AttributeFields key={group} draft={draft} component={i} group={group} />
            ))}
          </div>
        </fieldset>
      ))}
      <details class="glossary">
        <summary>What the rules do</summary>
        <dl>
          {Object.entries(RULE_KINDS).map(([kind, meaning]) => (
            <div key={kind}>
              <dt>{kind}</dt>
              <dd>{meaning}</dd>
            </div>
          ))}
        </dl>
      </details>
    </div>
  );
}
