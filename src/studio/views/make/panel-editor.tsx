/** One panel of the matrix to change: shape, size and colour of its figures, and where they are. */
import { useEffect, useRef } from 'preact/hooks';
import {
  findLayout,
  levelsOf,
  levelWords,
  SLOT_NAMES,
  VALUE_ATTRIBUTES,
  VALUE_KEYS,
  type PanelEdit,
  type ValueAttribute,
} from '../../../matrix/index.js';
import type { MatrixView } from '../../engine/protocol.js';
import { readEdits, withEdit, writeEdits } from '../../engine/panel-edits.js';
import { attributeWords, COMPONENTS, valueWords } from '../../engine/words.js';
import { Drawing } from '../../parts/panel.js';
import { SymbolGlyph } from '../../parts/symbol-glyph.js';
import { change, settings } from '../../state/store.js';

/** Changes panels; what was said of the matrix before is forgotten. */
function apply(edits: readonly PanelEdit[]): void {
  change({ edits: writeEdits(edits), picked: 0, revealed: false, imposed: null, another: 0 });
}

const currentEdits = (): PanelEdit[] => readEdits(settings.peek().edits);

/** The number that the data sets have for a value, if the page has another name for it. */
function inData(attribute: ValueAttribute, level: number): string {
  const words = levelWords(attribute, level);
  return words === valueWords(attribute, level) ? '' : ` (${words} in the data sets)`;
}

interface PartProps {
  readonly edit: PanelEdit;
  /** Of the panel as it is by then: changes may follow each other faster than it is drawn. */
  readonly onEdit: (change: (edit: PanelEdit) => PanelEdit) => void;
}

/** The values an attribute can have, as small pictures. */
function Levels({ edit, onEdit, attribute }: PartProps & { readonly attribute: ValueAttribute }) {
  const key = VALUE_KEYS[attribute];
  const levels = levelsOf(findLayout(settings.value.layout).components[edit.component][key]);
  const name = attributeWords(attribute);
  if (levels.length < 2) return null;
  return (
    <div class="figure-field" role="radiogroup" aria-label={name}>
      <span>{name}</span>
      <div class="segmented wrap">
        {levels.map((level) => (
          <label
            key={level}
            title={`${name}: ${valueWords(attribute, level)}${inData(attribute, level)}`}
          >
            <input
              type="radio"
              name={`${edit.component} ${key}`}
              aria-label={valueWords(attribute, level)}
              checked={edit[key] === level}
              onChange={() => onEdit((now) => ({ ...now, [key]: level }))}
            />
            <SymbolGlyph attribute={attribute} level={level} slots={1} />
          </label>
        ))}
      </div>
    </div>
  );
}

/** Where figures are; one has to stay. */
function SlotToggles({ edit, onEdit }: PartProps) {
  const { slots } = findLayout(settings.value.layout).components[edit.component];
  if (slots.length < 2) return null;
  const isLast = (slot: number): boolean => edit.slots.length === 1 && edit.slots[0] === slot;
  const flip = (slot: number) => (now: PanelEdit) => {
    const others = now.slots.filter((each) => each !== slot);
    const next = others.length < now.slots.length ? others : [...others, slot];
    return next.length === 0 ? now : { ...now, slots: next.sort((a, b) => a - b) };
  };
  return (
    <div class="figure-field" role="group" aria-label="Where figures are">
      <span>Where</span>
      <div class="slots" style={`--side: ${Math.sqrt(slots.length)}`}>
        {slots.map((_, slot) => (
          <button
            key={slot}
            type="button"
            aria-pressed={edit.slots.includes(slot)}
            aria-label={`A figure ${SLOT_NAMES[slots.length][slot]}`}
            disabled={isLast(slot)}
            title={
              isLast(slot) ? 'A panel has at least one figure' : SLOT_NAMES[slots.length][slot]
            }
            onClick={() => onEdit(flip(slot))}
          />
        ))}
      </div>
    </div>
  );
}

interface PanelEditorProps {
  readonly matrix: MatrixView;
  /** 1..9 */
  readonly position: number;
  readonly onClose: () => void;
}

export function PanelEditor({ matrix, position, onClose }: PanelEditorProps) {
  const layout = findLayout(settings.value.layout);
  const components = matrix.described?.[position - 1].components ?? [];
  const edits = readEdits(settings.value.edits);
  const place = useRef<HTMLElement>(null);
  const title = useRef<HTMLHeadingElement>(null);
  const panel = matrix.panels[position - 1];
  const isChanged = edits.some(({ panel }) => panel === position);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === 'Escape') onClose();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [onClose]);
  const focusTitle = (): void => title.current?.focus({ preventScroll: true });
  // The next Tab goes to what can be changed, not through the rest of the matrix.
  useEffect(() => {
    // On a phone it lies below the matrix.
    place.current?.scrollIntoView({ block: 'nearest' });
    focusTitle();
  }, [position]);
  const undo = (left: readonly PanelEdit[]): void => {
    apply(left);
    // The button that was pressed has nothing more to undo, and cannot keep the focus.
    focusTitle();
  };
  return (
    <section
      ref={place}
      class="panel-editor"
      aria-label={`Panel ${position}`}
      data-testid="panel-editor"
    >
      <div class="editor-head">
        {panel !== null && (
          <span class="thumb">
            <Drawing panel={panel} />
          </span>
        )}
        <h2 ref={title} tabIndex={-1}>
          {position === 9 ? 'Panel 9, the answer' : `Panel ${position}`}
        </h2>
        <button type="button" class="quiet" onClick={onClose}>
          Back to the rules
        </button>
      </div>
      {position === 9 && (
        <p class="hint">
          CRAB does not see this panel. It is one of the candidates, and right as long as it follows
          the rules.
        </p>
      )}
      {components.map(({ entities }, component) => {
        const { type, size, color } = entities[0];
        const slots = entities.map(({ slot }) => slot).sort((a, b) => a - b);
        const drawn = { panel: position, component, slots, type, size, color };
        // The matrix is drawn a little after an edit.
        const editIn = (all: readonly PanelEdit[]): PanelEdit =>
          all.find((each) => each.panel === position && each.component === component) ?? drawn;
        const part: PartProps = {
          edit: editIn(edits),
          onEdit: (change) => {
            const now = currentEdits();
            apply(withEdit(now, change(editIn(now))));
          },
        };
        return (
          <fieldset key={component} class="component">
            <legend>{COMPONENTS[layout.components[component].name] ?? 'Figures'}</legend>
            <div class="figure-fields">
              {VALUE_ATTRIBUTES.map((attribute) => (
                <Levels key={attribute} attribute={attribute} {...part} />
              ))}
              <SlotToggles {...part} />
            </div>
          </fieldset>
        );
      })}
      <div class="actions">
        <button
          type="button"
          disabled={!isChanged}
          onClick={() => undo(currentEdits().filter(({ panel }) => panel !== position))}
        >
          Undo this panel
        </button>
        <button type="button" disabled={edits.length === 0} onClick={() => undo([])}>
          Undo all changes
        </button>
      </div>
    </section>
  );
}
