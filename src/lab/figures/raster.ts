/** Figures as PNG, in the colours of a theme. */
import { svgDrawer } from '../../matrix/node.js';
import { colour, withTheme, type Theme } from './theme.js';

export interface RasterOptions {
  /** Pixels for each unit of the figure; 2 unless told. */
  readonly scale?: number;
  readonly theme?: Theme;
}

/** A figure's SVG as the bytes of a PNG. */
export async function rasterize(svg: string, options: RasterOptions = {}): Promise<Uint8Array> {
  const { scale = 2, theme = 'light' } = options;
  const draw = await svgDrawer();
  const background = withTheme(colour('paper'), theme);
  return draw(withTheme(svg, theme), { scale, background }, (image) => image.asPng());
}
