/** Sets of slots as bit masks, and how many there are. */
import type { ComponentPanel } from './problem.js';

export function slotMask(slots: readonly number[]): number {
  let mask = 0;
  for (const slot of slots) mask |= 1 << slot;
  return mask;
}

/** The slots of a panel's entities, as a mask. */
export const maskOf = ({ entities }: ComponentPanel): number =>
  slotMask(entities.map(({ slot }) => slot));

/** The slots of a mask in ascending order. */
export function maskSlots(mask: number): number[] {
  const slots: number[] = [];
  for (let slot = 0; mask >> slot; slot++) if ((mask >> slot) & 1) slots.push(slot);
  return slots;
}

/** How many sets of `size` slots there are. */
export function arrangements(slots: number, size: number): number {
  let count = 1;
  for (let i = 0; i < size; i++) count = (count * (slots - i)) / (i + 1);
  return count;
}
