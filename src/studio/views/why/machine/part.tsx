/** A part of the machine that tells its number when it is pointed at, touched or focused. */
import { createContext, type ComponentChildren } from 'preact';
import { useContext } from 'preact/hooks';

/** Hears what is looked at. */
export const Looked = createContext<(text: string) => void>(() => undefined);

export function Part({
  text,
  kind,
  cell,
  isFirst = true,
  children,
}: {
  /** What it is, in one or two sentences. */
  readonly text: string;
  readonly kind: string;
  /** Tells it from the other cells of a table, which arrow keys go through. */
  readonly cell?: string;
  /** Whether the Tab key stops here: of a table, only at the first cell. */
  readonly isFirst?: boolean;
  readonly children: ComponentChildren;
}) {
  const look = useContext(Looked);
  return (
    <span
      class={`part ${kind}`}
      role="img"
      aria-label={text}
      tabIndex={isFirst ? 0 : -1}
      data-cell={cell}
      onMouseEnter={() => look(text)}
      onFocus={() => look(text)}
    >
      {children}
    </span>
  );
}

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
