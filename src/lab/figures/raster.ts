/** Figures as PNG, in the light colours. */
import { svgDrawer } from '../../matrix/node.js';
import { colour, withTheme } from './theme.js';

/** A figure's SVG as the bytes of a PNG; `scale` is pixels for each unit of the figure. */
export async function rasterize(svg: string, scale = 2): Promise<Uint8Array> {
  const draw = await svgDrawer();
  const background = withTheme(colour('paper'), 'light');
  return draw(withTheme(svg, 'light'), { scale, background }, (image) => image.asPng());
}
