/** Ways through a table with the arrow keys. */

const STEPS: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowRight: 1,
  ArrowUp: -3,
  ArrowDown: 3,
};

/** Arrow keys go from cell to cell of a 3x3 table whose cells are called `name 1` to `name 9`. */
export function moveInTable(event: KeyboardEvent): void {
  const { key, target } = event;
  const step = STEPS[key];
  if (step === undefined || !(target instanceof HTMLElement)) return;
  const [, name, number] = /^(.*) (\d)$/.exec(target.dataset.cell ?? '') ?? [];
  if (number === undefined) return;
  event.preventDefault();
  const next = `${name} ${Number(number) + step}`;
  document.querySelector<HTMLElement>(`[data-cell="${next}"]`)?.focus();
}
