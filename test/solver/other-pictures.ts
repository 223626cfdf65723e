/** Panels that no model was trained on: letters, noise, gradients, photographs and other tests. */
import { SMALL_SIZE } from '../../src/matrix/index.js';
import { decodeSvg } from '../../src/matrix/node.js';
import { greyToPanel, type Panel } from '../../src/solver/index.js';

/** Values in [0, 1) from a seed. */
export function uniform(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const SIDE = 160;

/** What is inside an SVG of 160x160 as a panel. */
async function drawn(inside: string): Promise<Panel> {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${SIDE}" height="${SIDE}">${inside}</svg>`;
  return greyToPanel(await decodeSvg(new TextEncoder().encode(svg)));
}

/** A panel by a value for each place, from 0 to 1 along both axes. */
const shaded = (value: (x: number, y: number) => number): Panel =>
  Float32Array.from({ length: SMALL_SIZE * SMALL_SIZE }, (_, at) =>
    Math.min(1, Math.max(0, value((at % SMALL_SIZE) / 63, Math.floor(at / SMALL_SIZE) / 63))),
  );

const LETTERS = 'ABCDEFGHJKLMNPRSTUVWXYZabdefghkmnprstuwxyz23456789';

/** Kinds of panels, each made from random numbers. */
export const OTHER_PANELS: Readonly<
  Record<string, (random: () => number, place: number) => Panel | Promise<Panel>>
> = {
  letters: (random) => {
    const letter = LETTERS[Math.floor(random() * LETTERS.length)];
    return drawn(`<text x="80" y="120" font-size="110" text-anchor="middle">${letter}</text>`);
  },
  words: (random) => {
    const lines = [50, 90, 130].map((y) => {
      const letters = Array.from(
        { length: 6 },
        () => LETTERS[Math.floor(random() * LETTERS.length)],
      );
      return `<text x="8" y="${y}" font-size="32">${letters.join('')}</text>`;
    });
    return drawn(lines.join(''));
  },
  noise: (random) => shaded(() => random()),
  gradients: (random) => {
    const [a, b] = [random() - 0.5, random() - 0.5];
    return shaded((x, y) => 0.5 + a * (2 * x - 1) + b * (2 * y - 1));
  },
  photographs: (random) => {
    const waves = Array.from({ length: 8 }, () => [random() * 12, random() * 12, random() * 6.3]);
    return shaded((x, y) =>
      waves.reduce((sum, [u, v, shift]) => sum + 0.12 * Math.sin(u * x + v * y + shift), 0.55),
    );
  },
  // As in other tests: parts of a cross that come and go.
  strokes: (random) => {
    const ends = Array.from({ length: 3 }, () => Math.floor(random() * 8) * (Math.PI / 4));
    const line = (angle: number): string =>
      `<path d="M80 80 L${80 + 66 * Math.cos(angle)} ${80 + 66 * Math.sin(angle)}" stroke="black" stroke-width="7"/>`;
    return drawn(ends.map(line).join(''));
  },
  stripes: (random, place) => {
    const count = 2 + (place % 3);
    const width = 6 + Math.floor(random() * 3);
    const bars = Array.from(
      { length: count },
      (_, i) =>
        `<rect x="${12 + (i * 130) / count}" y="12" width="${width}" height="136" fill="black"/>`,
    );
    return drawn(bars.join(''));
  },
  stars: (random) => {
    const points = 5 + Math.floor(random() * 4);
    const corners = Array.from({ length: 2 * points }, (_, i) => {
      const radius = i % 2 === 0 ? 70 : 24;
      const angle = (i * Math.PI) / points;
      return `${80 + radius * Math.sin(angle)},${80 - radius * Math.cos(angle)}`;
    });
    return drawn(
      `<polygon points="${corners.join(' ')}" fill="none" stroke="black" stroke-width="3"/>`,
    );
  },
  arrows: (random) => {
    const turn = Math.floor(random() * 8) * 45;
    const arrow = '<path d="M30 72 H90 V50 L135 80 L90 110 V88 H30 Z" fill="#888" stroke="black"/>';
    return drawn(`<g transform="rotate(${turn} 80 80)">${arrow}</g>`);
  },
};

/** Eight panels of a kind. */
export async function otherPanels(kind: string, seed: number): Promise<Panel[]> {
  const random = uniform(seed);
  const panels: Panel[] = [];
  for (let place = 0; place < 8; place++) panels.push(await OTHER_PANELS[kind](random, place));
  return panels;
}
