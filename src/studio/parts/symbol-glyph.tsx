/** A small drawing of one value of an attribute: its shape, size or grey alone, or which slots are filled. */
import { COLORS, SIZES, TYPES, type RuleGroup } from '../../matrix/index.js';

const SIDE = 24;
const MIDDLE = SIDE / 2;
const RADIUS = 9;
const INK = '#1f2328';
/** Corners by the name of a shape; a circle has none. */
const CORNERS: Readonly<Record<string, number>> = {
  triangle: 3,
  square: 4,
  pentagon: 5,
  hexagon: 6,
};

function Shape({ level }: { readonly level: number }) {
  const corners = CORNERS[TYPES[level]];
  if (corners === undefined) return <circle cx={MIDDLE} cy={MIDDLE} r={RADIUS - 1} />;
  // A square lies on its side, the others stand on their tip.
  const turn = corners === 4 ? Math.PI / 4 : 0;
  const points = Array.from({ length: corners }, (_, i) => {
    const angle = turn + (2 * Math.PI * i) / corners - Math.PI / 2;
    return `${MIDDLE + RADIUS * Math.cos(angle)},${MIDDLE + RADIUS * Math.sin(angle)}`;
  });
  return <polygon points={points.join(' ')} />;
}

/** A bar in a frame, as high as the figure is large. */
function Size({ level }: { readonly level: number }) {
  const height = ((SIDE - 4) * (SIZES[level] - 0.3)) / 0.6;
  return (
    <>
      <rect x={8} y={2} width={8} height={SIDE - 4} fill="none" stroke={INK} opacity={0.35} />
      <rect x={8} y={SIDE - 2 - height} width={8} height={height} />
    </>
  );
}

function Slots({ set, slots }: { readonly set: number; readonly slots: number }) {
  const across = Math.round(Math.sqrt(slots));
  const step = (SIDE - 2) / across;
  return (
    <>
      {Array.from({ length: slots }, (_, slot) => (
        <rect
          key={slot}
          x={2 + step * (slot % across)}
          y={2 + step * Math.floor(slot / across)}
          width={step - 2}
          height={step - 2}
          fill={set & (1 << slot) ? INK : 'none'}
          stroke={INK}
          stroke-width={0.7}
          stroke-opacity={set & (1 << slot) ? 1 : 0.35}
        />
      ))}
    </>
  );
}

export function SymbolGlyph({
  attribute,
  level,
  slots,
}: {
  readonly attribute: RuleGroup;
  readonly level: number;
  readonly slots: number;
}) {
  return (
    <svg class="glyph" viewBox={`0 0 ${SIDE} ${SIDE}`} fill={INK} aria-hidden="true">
      {attribute === 'Type' && <Shape level={level} />}
      {attribute === 'Size' && <Size level={level} />}
      {attribute === 'Color' && (
        <circle
          cx={MIDDLE}
          cy={MIDDLE}
          r={RADIUS - 1}
          fill={`rgb(${COLORS[level]} ${COLORS[level]} ${COLORS[level]})`}
          stroke={INK}
          stroke-width={1}
        />
      )}
      {attribute === 'Number/Position' && <Slots set={level} slots={slots} />}
    </svg>
  );
}
