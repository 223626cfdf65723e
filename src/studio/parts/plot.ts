/** Of Observable Plot what the page draws with: a whole namespace would carry all the rest with it. */
export { contour, dot, line, lineY, plot, ruleX, ruleY } from '@observablehq/plot';
