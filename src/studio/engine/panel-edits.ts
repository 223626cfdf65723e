/** Panels changed by hand as a short text for links: `panel.component.slots.type.size.color`, joined by `_`. */
import { ArgumentError } from '../../base/index.js';
import { maskSlots, slotMask, type PanelEdit } from '../../matrix/index.js';

export const EDITS_PATTERN = /^[1-9](?:\.\d{1,3}){5}(?:_[1-9](?:\.\d{1,3}){5}){0,17}$/;

export function readEdits(text: string): PanelEdit[] {
  if (text === '') return [];
  if (!EDITS_PATTERN.test(text))
    throw new ArgumentError('the changed panels in this link are damaged');
  return text.split('_').map((part) => {
    const [panel, component, mask, type, size, color] = part.split('.').map(Number);
    if (mask === 0) throw new ArgumentError('a changed panel in this link has no figure');
    return { panel, component, slots: maskSlots(mask), type, size, color };
  });
}

export const writeEdits = (edits: readonly PanelEdit[]): string =>
  edits
    .map(({ panel, component, slots, type, size, color }) =>
      [panel, component, slotMask(slots), type, size, color].join('.'),
    )
    .join('_');

/** The edits with one more, in the place of an older one of the same component. */
export const withEdit = (edits: readonly PanelEdit[], edit: PanelEdit): PanelEdit[] => [
  ...edits.filter(({ panel, component }) => panel !== edit.panel || component !== edit.component),
  edit,
];
