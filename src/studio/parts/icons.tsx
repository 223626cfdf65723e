/** Small drawings for tabs, configurations and buttons; all are decoration beside a text. */
import type { ComponentChildren } from 'preact';
import { findLayout } from '../../matrix/index.js';
import type { Tab } from '../state/settings.js';

function Icon({ children }: { readonly children: ComponentChildren }) {
  return (
    <svg
      class="icon"
      viewBox="0 0 20 20"
      width="20"
      height="20"
      aria-hidden="true"
      focusable="false"
    >
      {children}
    </svg>
  );
}

const stroke = {
  fill: 'none',
  stroke: 'currentColor',
  'stroke-width': 1.6,
  'stroke-linecap': 'round',
  'stroke-linejoin': 'round',
} as const;

const TAB_DRAWINGS: Readonly<Record<Tab, ComponentChildren>> = {
  play: (
    <>
      <path {...stroke} d="M3 3h6v6H3zM11 3h6v6h-6zM3 11h6v6H3z" />
      <path {...stroke} d="M12.4 12.3a1.7 1.7 0 1 1 2.2 1.9v.9M14.6 17.2v.1" />
    </>
  ),
  erase: <path {...stroke} d="m7.5 16-4-4 8-8 5 5-7 7zM6.2 9.2l5 5M9.5 16H17" />,
  why: (
    <>
      <path {...stroke} d="M3 3h14v14H3zM3 7.7h14M3 12.4h14M7.7 3v14M12.4 3v14" />
      <path fill="currentColor" d="M7.7 7.7h4.7v4.7H7.7z" />
    </>
  ),
  rules: (
    <>
      <path {...stroke} d="M3 3v14h14" />
      <g fill="currentColor">
        <circle cx="7" cy="12.5" r="1.4" />
        <circle cx="9" cy="10" r="1.4" />
        <circle cx="14" cy="5.5" r="1.4" />
        <circle cx="15.5" cy="8" r="1.4" />
      </g>
    </>
  ),
  compare: (
    <>
      <path {...stroke} d="M3 5h5.500v10H3zM11.500 5H17v10h-5.500z" />
      <path fill="currentColor" d="M3 10h5.500v5H3zM11.500 5H17v5h-5.500z" />
    </>
  ),
  make: (
    <>
      <path {...stroke} d="M4 5h12M4 10h12M4 15h12" />
      <g fill="var(--surface)">
        <circle {...stroke} fill="inherit" cx="13" cy="5" r="1.8" />
        <circle {...stroke} fill="inherit" cx="7" cy="10" r="1.8" />
        <circle {...stroke} fill="inherit" cx="11" cy="15" r="1.8" />
      </g>
    </>
  ),
  test: (
    <>
      <circle {...stroke} cx="10" cy="11.500" r="5.800" />
      <path {...stroke} d="M10 8v3.500l2 1.500M8 3h4" />
    </>
  ),
  train: <path {...stroke} d="M3 3v14h14M5.5 6.5c2 6 5 7.500 11 8" />,
};

export const TabIcon = ({ tab }: { readonly tab: Tab }) => <Icon>{TAB_DRAWINGS[tab]}</Icon>;

/** The slots of a configuration in miniature. */
export function LayoutIcon({ layout }: { readonly layout: string }) {
  const { components, structure, noisy } = findLayout(layout);
  return (
    <svg class="layout-icon" viewBox="0 0 28 28" width="28" height="28" aria-hidden="true">
      <rect
        x="1"
        y="1"
        width="26"
        height="26"
        rx="4"
        {...stroke}
        stroke-width={1.2}
        opacity={0.45}
      />
      {structure === 'Left_Right' && (
        <path d="M14 3v22" {...stroke} stroke-width={1} opacity={0.45} />
      )}
      {structure === 'Up_Down' && <path d="M3 14h22" {...stroke} stroke-width={1} opacity={0.45} />}
      {components.flatMap(({ slots, name }) =>
        slots.map(({ row, column, width }, i) => (
          <rect
            key={`${name}${i}`}
            x={2 + 24 * column - 24 * width * 0.32}
            y={2 + 24 * row - 24 * width * 0.32}
            width={24 * width * 0.64}
            height={24 * width * 0.64}
            rx={1}
            transform={
              noisy && i % 2 === 1 ? `rotate(30 ${2 + 24 * column} ${2 + 24 * row})` : undefined
            }
            fill={name === 'Out' ? 'none' : 'currentColor'}
            stroke="currentColor"
            stroke-width={name === 'Out' ? 1.4 : 0}
          />
        )),
      )}
    </svg>
  );
}

export function ThemeIcon() {
  return (
    <Icon>
      <circle {...stroke} cx="10" cy="10" r="6.2" />
      <path fill="currentColor" d="M10 3.800a6.2 6.2 0 0 1 0 12.400z" />
    </Icon>
  );
}

export function ShuffleIcon() {
  return (
    <Icon>
      <path
        {...stroke}
        d="M3 6h2.500c4 0 5 8 9 8H17M3 14h2.500c1.500 0 2.600-1.100 3.500-2.500M11 8.500c.9-1.400 2-2.500 3.500-2.500H17M15 4l2 2-2 2M15 12l2 2-2 2"
      />
    </Icon>
  );
}

export function LinkIcon() {
  return (
    <Icon>
      <path
        {...stroke}
        d="M8.500 11.500l3-3M9 6l1.500-1.500a3.500 3.500 0 0 1 5 5L14 11M11 14l-1.500 1.500a3.500 3.500 0 0 1-5-5L6 9"
      />
    </Icon>
  );
}

/** A tick, or the sign for "not equal": not every font has them. */
export function AgreementIcon({ isSame }: { readonly isSame: boolean }) {
  return (
    <Icon>
      <path
        {...stroke}
        d={isSame ? 'M5 10.500l3.500 3.500L15 6.500' : 'M5 8h10M5 12.500h10M12.500 5l-5 10.500'}
      />
    </Icon>
  );
}
