/**
 * The look of every figure: one palette (Okabe and Ito's, told apart by colour-blind readers too, with
 * a lighter set for dark pages), sizes and fonts. Figures name colours as CSS variables, so that one
 * SVG follows the page it stands on; `withTheme` puts the values in for files that stand alone.
 */

const COLOUR_NAMES = [
  'paper',
  'ink',
  'muted',
  'faint',
  'grid',
  'accent',
  'warm',
  'series-1',
  'series-2',
  'series-3',
  'series-4',
  'series-5',
  'series-6',
  'series-7',
  'series-8',
] as const;
type ColourName = (typeof COLOUR_NAMES)[number];

export const THEMES = ['light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const PALETTES: Readonly<Record<Theme, Readonly<Record<ColourName, string>>>> = {
  light: {
    paper: '#ffffff',
    ink: '#1f2328',
    muted: '#59636e',
    faint: '#c9d1d9',
    grid: '#e6e9ed',
    accent: '#00735a',
    warm: '#c14a00',
    'series-1': '#0072b2',
    'series-2': '#d55e00',
    'series-3': '#009e73',
    'series-4': '#b04a8b',
    'series-5': '#946800',
    'series-6': '#3f9bd1',
    'series-7': '#5c5c5c',
    'series-8': '#7a5195',
  },
  dark: {
    paper: '#14181d',
    ink: '#e8ebef',
    muted: '#a3adb8',
    faint: '#4a545f',
    grid: '#2a323b',
    accent: '#3fc6a2',
    warm: '#ff9a57',
    'series-1': '#56b4e9',
    'series-2': '#f08a3c',
    'series-3': '#2ec79b',
    'series-4': '#e39ac6',
    'series-5': '#e8c547',
    'series-6': '#9fd3f5',
    'series-7': '#b5bcc4',
    'series-8': '#c7a4e3',
  },
};

/** A colour of the palette, as figures write it. */
export const colour = (name: ColourName): string => `var(--figure-${name})`;

/** Colours for the n-th of several things; beyond eight they repeat. */
export const seriesColour = (n: number): string => colour(`series-${(n % 8) + 1}` as ColourName);

export const FONT_FAMILY = "'DejaVu Sans', Verdana, 'Segoe UI', sans-serif";
export const FONT_SIZE = 11;
export const SMALL_FONT_SIZE = 9.6;
/** Pixels for each unit of a figure: its smallest letters are 12 pixels high on a page. */
export const FIGURE_SCALE = 1.25;

/** The palette as CSS declarations. */
export const paletteCss = (theme: Theme): string =>
  COLOUR_NAMES.map((name) => `--figure-${name}: ${PALETTES[theme][name]};`).join(' ');

/** An SVG with its colours put in, for files and for programs that know no CSS variables. */
export function withTheme(svg: string, theme: Theme): string {
  return svg.replace(/var\(--figure-([a-z0-9-]+)\)/g, (whole, name: string) => {
    const known = COLOUR_NAMES.find((each) => each === name);
    return known === undefined ? whole : PALETTES[theme][known];
  });
}
