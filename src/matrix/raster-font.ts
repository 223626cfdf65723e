/**
 * A small proportional bitmap font for labels in raster sheets: the printable ASCII characters, the
 * multiplication sign and a check mark, seven pixels above the base line and two below it. Meant to
 * be read at once or twice its size; any other character is drawn as a box.
 */
import { wrapWords } from './wrap-words.js';

/** Rows of a glyph: seven above the base line, two below. */
export const GLYPH_HEIGHT = 9;
/** Rows of a capital letter. */
export const CAPITAL_HEIGHT = 7;
const GLYPH_WIDTH = 5;
const SPACE_WIDTH = 3;
const SPACING = 1;

/** Character, then its rows from the top: five bits each, the leftmost highest, in base 32. */
const GLYPH_TABLE = [
  '!ggggg0g "kk #0avava $4fke5u4 %pp244jj &cik8lid \'gg (48ggg84 )g84448g *0level +044v44',
  ',0000088g -000u .000000g /11248gg 0ehjlphe 14ck444v 2eh1248v 3eh161he 426aiv22 5vgu11he',
  '6egguhhe 7v124488 8ehhehhe 9ehhf11e :00g000g ;0080088g <248g842 =00v0v >g84248g ?eh12404',
  '@ehnlnge Aehhvhhh Buhhuhhu Cehggghe Duhhhhhu Evgguggv Fvgguggg Gehgnhhf Hhhhvhhh Is88888s',
  'J72222ic Khikokih Lggggggv Mhrllhhh Nhpljhhh Oehhhhhe Puhhuggg Qehhhlid Ruhhukih Sehge1he',
  'Tv444444 Uhhhhhhe Vhhhhha4 Whhhllrh Xhha4ahh Yhha4444 Zv1248gv [ogggggo \\gg84211 ]o88888o',
  '^4ah _0000000v `g8 a00e1fhf bgguhhhu c00eggge d11fhhhf e00ehvge f68u8888 g00fhhhf1e',
  'hgguhhhh ig0ggggg j4044444k8 kggikoki lgggggg8 m00qllll n00uhhhh o00ehhhe p00uhhhugg',
  'q00fhhhf11 r00moggg s00fge1u t88u8886 u00hhhhf v00hhha4 w00hllla x00ha4ah y00hhhhf1e',
  'z00v248v {488g884 |gggggggg }g88488g ~0009m ×00ha4ah ✓0112kc8',
];

interface Glyph {
  readonly width: number;
  /** Bits of each row, bit 4 the leftmost pixel. */
  readonly rows: readonly number[];
}

const glyph = (rows: readonly number[]): Glyph => {
  const used = rows.reduce((all, row) => all | row, 0);
  // The lowest used bit is the rightmost pixel: five pixels less the unused ones on the right.
  return { width: GLYPH_WIDTH - (31 - Math.clz32(used & -used)), rows };
};

const GLYPHS = new Map<string, Glyph>(
  GLYPH_TABLE.flatMap((line) => line.split(' ')).map((entry) => {
    const rows = [...entry.slice(1)].map((digit) => Number.parseInt(digit, 32));
    return [entry[0], glyph(rows)];
  }),
);
GLYPHS.set(' ', { width: SPACE_WIDTH, rows: [] });

const UNKNOWN = glyph([31, 17, 17, 17, 17, 17, 31]);

const glyphsOf = (text: string): Glyph[] =>
  Array.from(text, (character) => GLYPHS.get(character) ?? UNKNOWN);

/** Columns that a text takes at a scale. */
export function textWidth(text: string, scale = 1): number {
  const widths = glyphsOf(text).map(({ width }) => width + SPACING);
  return (
    Math.max(
      widths.reduce((sum, width) => sum + width, -SPACING),
      0,
    ) * scale
  );
}

/** Calls `paint` with every square of `scale` pixels that a text at (x, y), its top left, inks. */
export function drawText(
  text: string,
  x: number,
  y: number,
  scale: number,
  paint: (x: number, y: number, side: number) => void,
): void {
  let left = x;
  for (const { rows, width } of glyphsOf(text)) {
    rows.forEach((bits, row) => {
      for (let column = 0; column < width; column++) {
        if ((bits >> (GLYPH_WIDTH - 1 - column)) & 1) {
          paint(left + column * scale, y + row * scale, scale);
        }
      }
    });
    left += (width + SPACING) * scale;
  }
}

/** Breaks a text into lines of at most `width` columns, between words if that is possible. */
export const wrapText = (text: string, width: number, scale = 1): string[] =>
  wrapWords(text, (line) => textWidth(line, scale) <= width);
