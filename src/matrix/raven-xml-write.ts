/**
 * Writes the XML description of a problem, byte for byte as the data sets have it: attributes in
 * alphabetical order, as Python 2 wrote them, or with a mesh in the order of Python 3.
 */
import { ANGLES, SIZES, TYPES } from './attributes.js';
import { layoutOfProblem, type ComponentLayout, type ConfigurationLayout } from './layouts.js';
import {
  problemPanels,
  type Candidate,
  type ComponentRules,
  type Entity,
  type Panel,
  type Problem,
} from './problem.js';
import { formatSlot, formatSlots } from './raven-xml.js';
import { entityMask, realBoundingBox } from './mask.js';

/** The description of a problem: one line, ASCII, no declaration, no end of line. */
export function formatRavenXml(problem: Problem): string {
  const layout = layoutOfProblem(problem);
  const modified = problem.variant === 'i-raven' ? formatChanges(problem.candidates) : '';
  return [
    '<Data><Panels>',
    ...problemPanels(problem).map((panel) => formatPanel(layout, panel)),
    '</Panels><Rules>',
    ...problem.rules.map((rules, id) => formatRules(rules, id, layout.mesh)),
    `</Rules>${modified}</Data>`,
  ].join('');
}

function formatPanel(layout: ConfigurationLayout, panel: Panel): string {
  const components = layout.components.map((component, id) => {
    const { uniformity, entities } = panel.components[id];
    const name = `name="${component.layout}"`;
    const shown = `Number="${entities.length - 1}" Position="${formatSlots(component.slots)}" Uniformity="${uniformity}"`;
    return [
      `<Component id="${id}" name="${component.name}">`,
      `<Layout ${layout.mesh ? `${name} ${shown}` : `${shown} ${name}`}>`,
      ...entities.map((entity) => formatEntity(component, entity, layout.mesh)),
      '</Layout></Component>',
    ].join('');
  });
  return `<Panel><Struct name="${layout.structure}">${components.join('')}</Struct></Panel>`;
}

function formatEntity(layout: ComponentLayout, entity: Entity, mesh: boolean): string {
  const { angle, color, size, type } = entity;
  const { slot, mask, box } = extentOf(layout, entity);
  return mesh
    ? `<Entity ${slot} ${box} ${mask} Type="${type}" Size="${size}" Color="${color}" Angle="${angle}" />`
    : `<Entity Angle="${angle}" Color="${color}" Size="${size}" Type="${type}" ${slot} ${mask} ${box} />`;
}

/** Where a figure lies, as attributes. */
interface Extent {
  readonly slot: string;
  readonly mask: string;
  readonly box: string;
}

/** By layout and figure without its colour: a few thousand short texts at most. */
const extents = new WeakMap<ComponentLayout, Map<number, Extent>>();

function extentOf(layout: ComponentLayout, entity: Entity): Extent {
  let known = extents.get(layout);
  if (!known) extents.set(layout, (known = new Map<number, Extent>()));
  const { slot, type, size, angle } = entity;
  const key = ((slot * TYPES.length + type) * SIZES.length + size) * ANGLES.length + angle;
  let extent = known.get(key);
  if (extent === undefined) {
    extent = {
      slot: `bbox="${formatSlot(layout.slots[slot])}"`,
      mask: `mask="[${entityMask(layout, entity).join(',')}]"`,
      box: `real_bbox="[${realBoundingBox(layout, entity).map(formatFloat).join(', ')}]"`,
    };
    known.set(key, extent);
  }
  return extent;
}

/** As Python prints a float: a whole number keeps its ".0". */
const formatFloat = (value: number): string =>
  Number.isInteger(value) ? value.toFixed(1) : String(value);

function formatRules(rules: ComponentRules, id: number, mesh: boolean): string {
  const lines = rules.map(({ attribute, name }) =>
    mesh
      ? `<Rule name="${name}" attr="${attribute}" />`
      : `<Rule attr="${attribute}" name="${name}" />`,
  );
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
