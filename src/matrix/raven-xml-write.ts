/** Writes the XML description of a problem, byte for byte as the data sets have it. */
import { ANGLES, SIZES, TYPES } from './attributes.js';
import { layoutOf, type ComponentLayout, type ConfigurationLayout } from './layouts.js';
import type { Candidate, ComponentRules, Entity, Panel, Problem } from './problem.js';
import { formatSlot, formatSlots } from './raven-xml.js';
import { entityMask, realBoundingBox } from './mask.js';

/** The description of a problem: one line, ASCII, no declaration, no end of line. */
export function formatRavenXml(problem: Problem): string {
  const layout = layoutOf(problem.configuration, problem.noisy);
  const panels = [...problem.context, ...problem.candidates.map(({ panel }) => panel)];
  const modified = problem.variant === 'i-raven' ? formatChanges(problem.candidates) : '';
  return [
    '<Data><Panels>',
    ...panels.map((panel) => formatPanel(layout, panel)),
    '</Panels><Rules>',
    ...problem.rules.map(formatRules),
    `</Rules>${modified}</Data>`,
  ].join('');
}

function formatPanel(layout: ConfigurationLayout, panel: Panel): string {
  const components = layout.components.map((component, id) => {
    const { uniformity, entities } = panel.components[id];
    return [
      `<Component id="${id}" name="${component.name}">`,
      `<Layout Number="${entities.length - 1}" Position="${formatSlots(component.slots)}" Uniformity="${uniformity}" name="${component.layout}">`,
      ...entities.map((entity) => formatEntity(component, entity)),
      '</Layout></Component>',
    ].join('');
  });
  return `<Panel><Struct name="${layout.structure}">${components.join('')}</Struct></Panel>`;
}

function formatEntity(layout: ComponentLayout, entity: Entity): string {
  const { angle, color, size, type } = entity;
  return `<Entity Angle="${angle}" Color="${color}" Size="${size}" Type="${type}" ${extentText(layout, entity)} />`;
}

/** Where figures lie, by layout and figure without its colour: a few thousand short texts at most. */
const extentTexts = new WeakMap<ComponentLayout, Map<number, string>>();

function extentText(layout: ComponentLayout, entity: Entity): string {
  let texts = extentTexts.get(layout);
  if (!texts) extentTexts.set(layout, (texts = new Map<number, string>()));
  const { slot, type, size, angle } = entity;
  const key = ((slot * TYPES.length + type) * SIZES.length + size) * ANGLES.length + angle;
  let text = texts.get(key);
  if (text === undefined) {
    const mask = entityMask(layout, entity).join(',');
    const box = realBoundingBox(layout, entity).map(formatFloat).join(', ');
    text = `bbox="${formatSlot(layout.slots[slot])}" mask="[${mask}]" real_bbox="[${box}]"`;
    texts.set(key, text);
  }
  return text;
}

/** As Python prints a float: a whole number keeps its ".0". */
const formatFloat = (value: number): string =>
  Number.isInteger(value) ? value.toFixed(1) : String(value);

function formatRules(rules: ComponentRules, id: number): string {
  const lines = rules.map(({ attribute, name }) => `<Rule attr="${attribute}" name="${name}" />`);
  return `<Rule_Group id="${id}">${lines.join('')}</Rule_Group>`;
}

function formatChanges(candidates: readonly Candidate[]): string {
  const lines = candidates.map(({ changes }, id) => {
    if (changes.length === 0) return `<Candidate id="${id}" />`;
    const attributes = changes.map(
      ({ component, attribute }) => `<Attribute component_id="${component}" name="${attribute}" />`,
    );
    return `<Candidate id="${id}">${attributes.join('')}</Candidate>`;
  });
  return `<Modified_attributes>${lines.join('')}</Modified_attributes>`;
}
