/**
 * Reads the XML description beside each RAVEN problem (`raven-xml-write.ts` writes it): levels rather than
 * values. Document types and entities are refused, length, depth and count limited, and every value is
 * checked against the configuration.
 *
 * The XML names rules without their parameters and does not say which candidate is the answer (RAVEN)
 * or says it only by the lack of changes (I-RAVEN): the parameters are found from the panels, the
 * answer comes from the .npz beside it.
 */
import { SaxesParser } from 'saxes';
import { ANGLES, COLORS, SIZES, TYPES, UNIFORM, UNIFORMITIES, UPRIGHT } from './attributes.js';
import { FormatError } from '../base/index.js';
import type { ComponentLayout, ConfigurationLayout, Slot } from './layouts.js';
import {
  CANDIDATE_ATTRIBUTES,
  CANDIDATES,
  CONTEXT_PANELS,
  RULE_ATTRIBUTES,
  RULE_NAMES,
  type AttributeChange,
  type ComponentPanel,
  type Entity,
  type Panel,
  type Problem,
} from './problem.js';
import { changesFrom, completeRules } from './raven-rules.js';
import { layoutsOfStructure, type NamedRule } from './raven-structure.js';
import { validatePanel, validateProblem } from './validation.js';

/** Longest description accepted, in characters; the longest published ones have about 60,000. */
export const MAX_XML_LENGTH = 1 << 20;
const MAX_DEPTH = 8;
const MAX_ELEMENTS = 4096;
const MAX_ATTRIBUTES = 8;

interface Element {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: Element[];
}

export interface RavenXmlOptions {
  /** Index of the answer among the candidates, from the .npz; I-RAVEN's description has it too. */
  readonly target?: number;
  /** Whether the noisy form is meant; decided from the panels if absent. */
  readonly noisy?: boolean;
}

/** Reads a description. */
export function parseRavenXml(text: string, options: RavenXmlOptions = {}): Problem {
  const data = parseTree(text);
  expectNames(data, ['Data'], 'the file');
  const parts = data.children.map(({ name }) => name).join(' ');
  if (parts !== 'Panels Rules' && parts !== 'Panels Rules Modified_attributes') {
    throw new FormatError(`<Data> holds "${parts.slice(0, 100)}", not Panels and Rules`);
  }
  const [panels, rules, modified] = data.children;
  const drawings = children(panels, 'Panel', CONTEXT_PANELS + CANDIDATES);
  const layout = findStructure(drawings, options.noisy);
  const all = drawings.map((drawing, i) => {
    const panel = parsePanel(drawing, layout, `panel ${i + 1}`);
    validatePanel(layout, panel, `panel ${i + 1}`);
    return panel;
  });
  const named = parseRules(rules, layout);
  const changes = modified === undefined ? undefined : parseChanges(modified, layout);
  const target = findTarget(options.target, changes);
  const context = all.slice(0, CONTEXT_PANELS);
  const offered = all.slice(CONTEXT_PANELS);
  const answer = offered[target];
  const matrix = [...context, answer];
  const problem: Problem = {
    configuration: layout.configuration,
    noisy: layout.noisy,
    ...(layout.mesh && { mesh: true }),
    variant: changes ? 'i-raven' : 'raven',
    context,
    candidates: offered.map((panel, i) => ({
      panel,
      changes: changes ? changes[i] : changesFrom(answer, panel),
    })),
    target,
    rules: layout.components.map((place, component) =>
      completeRules(
        place,
        named[component],
        matrix.map(({ components }) => components[component]),
      ),
    ),
  };
  validateProblem(problem);
  return problem;
}

function parseTree(text: string): Element {
  if (text.length > MAX_XML_LENGTH) {
    throw new FormatError(`a description of ${text.length} characters is too long`);
  }
  const root: Element = { name: '', attributes: new Map(), children: [] };
  const open = [root];
  let count = 0;
  const refuse = (what: string): never => {
    throw new FormatError(what);
  };
  const parser = new SaxesParser({ position: false });
  parser.on('error', (error) => refuse(`not well-formed XML: ${error.message}`));
  parser.on('doctype', () => refuse('a document type is not allowed'));
  parser.on('processinginstruction', () => refuse('a processing instruction is not allowed'));
  parser.on('cdata', () => refuse('a CDATA section is not allowed'));
  parser.on('text', (inside) => {
    if (inside.trim() !== '') refuse(`unexpected text "${inside.trim().slice(0, 40)}"`);
  });
  parser.on('opentag', ({ name, attributes }) => {
    const pairs = Object.entries(attributes);
    if (open.length > MAX_DEPTH) refuse(`elements are nested deeper than ${MAX_DEPTH}`);
    if (++count > MAX_ELEMENTS) refuse(`more than ${MAX_ELEMENTS} elements`);
    if (pairs.length > MAX_ATTRIBUTES) refuse(`<${name}> has too many attributes`);
    const element: Element = { name, attributes: new Map(pairs), children: [] };
    open[open.length - 1].children.push(element);
    open.push(element);
  });
  parser.on('closetag', () => open.pop());
  parser.write(text).close();
  if (root.children.length !== 1) throw new FormatError('there is no root element');
  return root.children[0];
}

function expectNames(element: Element, names: readonly string[], where: string): void {
  if (!names.includes(element.name)) {
    throw new FormatError(`${where}: <${element.name}> where <${names.join('> or <')}> belongs`);
  }
}

function children(element: Element, name: string, count: number, where = element.name): Element[] {
  for (const child of element.children) expectNames(child, [name], where);
  if (element.children.length !== count) {
    throw new FormatError(`${where}: ${element.children.length} of <${name}> instead of ${count}`);
  }
  return element.children;
}

function attribute(element: Element, name: string, where: string): string {
  const value = element.attributes.get(name);
  if (value === undefined) throw new FormatError(`${where}: <${element.name}> has no "${name}"`);
  return value;
}

/** A level: a plain decimal index into a table of `size` values. */
function level(element: Element, name: string, size: number, where: string): number {
  const text = attribute(element, name, where);
  const value = /^\d{1,3}$/.test(text) ? Number(text) : NaN;
  if (!(value < size)) {
    throw new FormatError(`${where}: ${name}="${text.slice(0, 40)}" is not a level below ${size}`);
  }
  return value;
}

/** The layout by the names in the first panel, noisy or not as asked or as the panels look. */
function findStructure(
  panels: readonly Element[],
  noisy: boolean | undefined,
): ConfigurationLayout {
  const names = (element: Element): string[] => [
    element.attributes.get('name') ?? '',
    ...element.children.flatMap((inner) => (inner.name === 'Entity' ? [] : names(inner))),
    '/',
  ];
  const forms = layoutsOfStructure(['Scene', ...panels[0].children.flatMap(names), '/']);
  const wanted = noisy ?? panels.some(showsNoise);
  return forms.find((form) => form.noisy === wanted) ?? forms[0];
}

function showsNoise(element: Element): boolean {
  const angle = element.attributes.get('Angle') ?? String(UPRIGHT);
  const uniformity = element.attributes.get('Uniformity') ?? String(UNIFORM);
  return (
    angle !== String(UPRIGHT) || uniformity !== String(UNIFORM) || element.children.some(showsNoise)
  );
}

function parsePanel(panel: Element, layout: ConfigurationLayout, where: string): Panel {
  const [struct] = children(panel, 'Struct', 1, where);
  expectValue(struct, 'name', layout.structure, where);
  const parts = children(struct, 'Component', layout.components.length, where);
  return {
    components: layout.components.map((component, id) => {
      expectValue(parts[id], 'id', String(id), where);
      expectValue(parts[id], 'name', component.name, where);
      const [inner] = children(parts[id], 'Layout', 1, where);
      expectValue(inner, 'name', component.layout, where);
      return parseComponent(inner, component, where);
    }),
  };
}

function expectValue(element: Element, name: string, expected: string, where: string): void {
  const found = attribute(element, name, where);
  if (found !== expected) {
    throw new FormatError(
      `${where}: <${element.name}> has ${name}="${found.slice(0, 60)}" instead of "${expected}"`,
    );
  }
}

function parseComponent(element: Element, layout: ComponentLayout, where: string): ComponentPanel {
  const places = layout.slots.map(formatSlot);
  if (normalised(attribute(element, 'Position', where)) !== normalised(formatSlots(layout.slots))) {
    throw new FormatError(`${where}: the Position of ${layout.layout} are not its slots`);
  }
  const number = level(element, 'Number', layout.slots.length, where) + 1;
  return {
    uniformity: level(element, 'Uniformity', UNIFORMITIES.length, where),
    entities: children(element, 'Entity', number, where).map((entity) =>
      parseEntity(entity, places.map(normalised), where),
    ),
  };
}

const normalised = (json: string): string => json.replace(/\s+/g, '');

const MASK = /^\[(?:\d{1,5},\d{1,5}(?:, ?\d{1,5}, ?\d{1,5})*)?\]$/;
const BOX = /^\[(?:-?\d{1,3}(?:\.\d{1,20})?, ?){3}-?\d{1,3}(?:\.\d{1,20})?\]$/;

function parseEntity(element: Element, places: readonly string[], where: string): Entity {
  const slot = places.indexOf(normalised(attribute(element, 'bbox', where)));
  if (slot < 0) throw new FormatError(`${where}: an entity's bbox is no slot`);
  for (const [name, grammar] of [
    ['mask', MASK],
    ['real_bbox', BOX],
  ] as const) {
    const text = element.attributes.get(name);
    if (text !== undefined && !grammar.test(text)) {
      throw new FormatError(`${where}: an entity's ${name} is unreadable`);
    }
  }
  return {
    slot,
    type: level(element, 'Type', TYPES.length, where),
    size: level(element, 'Size', SIZES.length, where),
    color: level(element, 'Color', COLORS.length, where),
    angle: level(element, 'Angle', ANGLES.length, where),
  };
}

function parseRules(element: Element, layout: ConfigurationLayout): NamedRule[][] {
  return children(element, 'Rule_Group', layout.components.length).map((group, id) => {
    expectValue(group, 'id', String(id), 'Rules');
    return children(group, 'Rule', 4, 'Rules').map((rule) => ({
      name: oneOf(rule, 'name', RULE_NAMES, 'Rules'),
      attribute: oneOf(rule, 'attr', RULE_ATTRIBUTES, 'Rules'),
    }));
  });
}

function oneOf<T extends string>(
  element: Element,
  name: string,
  allowed: readonly T[],
  where: string,
): T {
  const text = attribute(element, name, where);
  const found = allowed.find((value) => value === text);
  if (found === undefined) {
    throw new FormatError(`${where}: ${name}="${text.slice(0, 40)}" is unknown`);
  }
  return found;
}

function parseChanges(element: Element, layout: ConfigurationLayout): AttributeChange[][] {
  return children(element, 'Candidate', CANDIDATES).map((candidate, id) => {
    const where = `candidate ${id + 1}`;
    expectValue(candidate, 'id', String(id), where);
    return children(candidate, 'Attribute', candidate.children.length, where).map((change) => ({
      component: level(change, 'component_id', layout.components.length, where),
      attribute: oneOf(change, 'name', CANDIDATE_ATTRIBUTES, where),
    }));
  });
}

function findTarget(
  given: number | undefined,
  changes: readonly (readonly AttributeChange[])[] | undefined,
): number {
  if (given !== undefined && !(Number.isInteger(given) && given >= 0 && given < CANDIDATES)) {
    throw new FormatError(`the answer ${given} is not one of the eight candidates`);
  }
  const unchanged = changes?.findIndex((list) => list.length === 0);
  if (given !== undefined && unchanged !== undefined && given !== unchanged) {
    throw new FormatError(`candidate ${given + 1} should be the answer but has changes`);
  }
  const target = given ?? unchanged;
  if (target === undefined || target < 0) {
    throw new FormatError('which candidate is the answer is not said: the .npz beside it knows');
  }
  return target;
}

export const formatSlot = ({ row, column, width, height }: Slot): string =>
  `[${row}, ${column}, ${width}, ${height}]`;

export const formatSlots = (slots: readonly Slot[]): string =>
  `[${slots.map(formatSlot).join(', ')}]`;
