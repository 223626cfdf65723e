/** `history.json`: how a model's losses and accuracy went while it was trained, thinned out. */
import {
  integer,
  list,
  number,
  objectWith,
  parseJson,
  read,
  text,
  type Read,
  type Reader,
} from '../base/index.js';
import { BundleError } from './errors.js';

const MOST_CURVES = 100;
const MOST_POINTS = 100_000;

const points = { max: MOST_POINTS };
const fields = objectWith({
  /** What it shows, e.g. `reconstruction`. */
  name: text(100),
  steps: list(integer({ min: 0 }), points),
  values: list(number(), points),
});
export type HistoryCurve = Read<typeof fields>;

const curve: Reader<HistoryCurve> = (given) => {
  const read = fields(given);
  const { length } = read.steps;
  if (read.values.length !== length) given.member('values').expected(`${length} numbers`);
  return read;
};

const history = objectWith({ curves: list(curve, { max: MOST_CURVES }) });

export function parseHistory(bytes: Uint8Array): readonly HistoryCurve[] {
  const file = 'history.json';
  return read(history, parseJson(bytes, BundleError, file), BundleError, file).curves;
}
