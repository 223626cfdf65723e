/** Measured numbers as reports write them. */
import type { Measured } from '../evaluation.js';
import { percent } from '../numbers.js';
import { markup, type Markup } from './markup.js';

/** 97.1% [96.0, 98.0] */
export const percentInterval = ({ value, low, high }: Measured): Markup =>
  markup`${percent(value)} <span class="interval">[${(100 * low).toFixed(1)}, ${(100 * high).toFixed(1)}]</span>`;

export const numberInterval = ({ value, low, high }: Measured, digits = 4): Markup =>
  markup`${value.toFixed(digits)} <span class="interval">[${low.toFixed(digits)}, ${high.toFixed(digits)}]</span>`;

/** As many decimals as two digits of a small number need. */
export const smallInterval = (measured: Measured): Markup =>
  numberInterval(measured, Math.max(4, 1 - Math.floor(Math.log10(Math.max(1e-9, measured.value)))));
