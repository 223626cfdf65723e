/** The form for a matrix of one's own: a rule for each attribute, and values of the first panel. */
import {
  COLORS,
  findLayout,
  RULE_GROUPS,
  SIZES,
  TYPES,
  type ComponentLayout,
  type RuleGroup,
} from '../../../matrix/index.js';
import { attributeWords, COMPONENTS } from '../../engine/words.js';
import { changeMatrix, settings } from '../../state/store.js';
import {
  fixedRule,
  readDraft,
  ruleOptions,
  START_KEYS,
  withRule,
  withStart,
  writeDraft,
  type Draft,
  type StartKey,
} from './constraints.js';

const ANY = 'any';

const START_NAMES: Readonly<Record<StartKey, string>> = {
  number: 'Number',
  type: 'Shape',
  size: 'Size',
  color: 'Colour',
};

function apply(draft: Draft): void {
  changeMatrix({ constraints: writeDraft(draft), seed: settings.peek().seed }, false);
}

function RuleSelect({
  draft,
  component,
  group,
}: {
  readonly draft: Draft;
  readonly component: number;
  readonly group: RuleGroup;
}) {
  const options = ruleOptions(findLayout(settings.value.layout), component, group);
  // What cannot change is not asked for.
  if (options.length < 2) return null;
  return (
    <label class="field stacked">
      <span>{attributeWords(group)}</span>
      <select
        data-rule={`${component} ${group}`}
        value={String(fixedRule(draft, component, options))}
        onChange={(event) => {
          const option = options.at(Number(event.currentTarget.value));
          const isAny = event.currentTarget.value === '-1';
          apply(withRule(draft, component, group, isAny ? null : (option?.rule ?? null)));
        }}
      >
        <option value="-1">any rule</option>
        {options.map(({ label }, i) => (
          <option key={label} value={String(i)}>
            {label}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Values an attribute of the first panel may have, with their names. */
function startValues(layout: ComponentLayout, key: StartKey): { value: number; label: string }[] {
  const { min, max } = layout[key];
  return Array.from({ length: max - min + 1 }, (_, i) => {
    const level = min + i;
    switch (key) {
      case 'number':
        return { value: level + 1, label: String(level + 1) };
      case 'type':
        return { value: level, label: TYPES[level] };
      case 'size':
        return { value: level, label: SIZES[level].toFixed(1) };
      case 'color':
        return {
          value: level,
          label: level === 0 ? 'white' : level === 9 ? 'black' : `grey ${COLORS[level]}`,
        };
    }
  });
}

function StartSelect({
  draft,
  component,
  name,
  layout,
}: {
  readonly draft: Draft;
  readonly component: number;
  readonly name: StartKey;
  readonly layout: ComponentLayout;
}) {
  const values = startValues(layout, name);
  if (values.length < 2) return null;
  return (
    <label class="field stacked">
      <span>{START_NAMES[name]}</span>
      <select
        data-start={`${component} ${name}`}
        value={String(draft.start[component][name] ?? ANY)}
        onChange={(event) => {
          const { value } = event.currentTarget;
          apply(withStart(draft, component, name, value === ANY ? null : Number(value)));
        }}
      >
        <option value={ANY}>any</option>
        {values.map(({ value, label }) => (
          <option key={value} value={String(value)}>
            {label}
          </option>
        ))}
      </select>
    </label>
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
          <div class="fields">
            {RULE_GROUPS.map((group) => (
              <RuleSelect key={group} draft={draft} component={i} group={group} />
            ))}
          </div>
          <p class="hint">The first panel of the first row has</p>
          <div class="fields four">
            {START_KEYS.map((key) => (
              <StartSelect key={key} draft={draft} component={i} name={key} layout={component} />
            ))}
          </div>
        </fieldset>
      ))}
    </div>
  );
}
