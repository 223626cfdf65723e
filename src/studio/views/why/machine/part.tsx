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
