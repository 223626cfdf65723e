/**
 * CRAB's reasoner (rule parser and target predictor) as a graph. The networks of each concept stand side by
 * side as plain matrix products, whose weights ONNX Runtime packs once when a file is loaded; batched
 * products it would pack again at every call.
 */
import { MATRIX_PANELS } from '../../matrix/index.js';
import type { Value } from '../onnx/graph.js';
import { NetworkGraph, type GraphOptions } from '../onnx/network-graph.js';
import { TAPS, type ConceptNetworks, type CrabNetworks } from './export-networks.js';
import { PAIRS } from './rule-parser.js';

/** For each position of a matrix and each tap of a 3x3 kernel the panel it meets; 9 is the zero border. */
const NEIGHBOURS = Array.from({ length: MATRIX_PANELS * TAPS }, (_, i) => {
  const [position, tap] = [Math.floor(i / TAPS), i % TAPS];
  const row = Math.floor(position / 3) + Math.floor(tap / 3) - 1;
  const column = (position % 3) + (tap % 3) - 1;
  const isInside = row >= 0 && row < 3 && column >= 0 && column < 3;
  return isInside ? 3 * row + column : MATRIX_PANELS;
});

/** Name of a layer of concept m, by which it is probed and factored. */
const layerName = (m: number, part: string): string => `concept${m}.${part}`;

/** What all concepts' networks of a reasoner share. */
interface ReasonerInputs {
  /** [N, 9, M, d_z] */
  readonly concepts: Value;
  /** 1 at context panels, [N, 9, 1]. */
  readonly context: Value;
  /** 1 for pairs of context panels, [N, 81, 1]. */
  readonly gates: Value;
  /** [N, M, d_r] */
  readonly rules: Value;
  /** bool [N, M, 1] */
  readonly useRules: Value;
  /** [1, 9, 1] */
  readonly nineOnes: Value;
}

/**
 * Inputs: concepts [N, 9, M, d_z] (anything finite at missing panels), mask [N, 9] (1 = missing), rules
 * [N, M, d_r] and use_rules [N, M] (1 = take that rule instead of the parsed one). Outputs: the parsed
 * rule_mean and rule_deviation [N, M, d_r], and predicted [N, 9, M, d_z].
 */
export function reasonerGraph(networks: CrabNetworks, options: GraphOptions): Uint8Array {
  const { config } = networks;
  const { concepts: m, conceptSize, ruleSize } = config;
  const graph = new NetworkGraph('reasoner', options);
  const inputs = reasonerInputs(graph, m, conceptSize, ruleSize);
  const parts = networks.concepts.map((concept, index) =>
    conceptReasoner(graph, networks, concept, index, inputs),
  );
  const joined = (name: string, choose: (part: ConceptResult) => Value, axis: number): void => {
    const apart = parts.map((part, i) => {
      const value = choose(part);
      const shape = [...value.shape.slice(0, axis), 1, ...value.shape.slice(axis)];
      const sizes = shape.map((size) => (typeof size === 'number' ? size : -1));
      return graph.reshape(`concept${i}.${name}`, value, sizes, shape);
    });
    graph.output(name, graph.concat(`${name}.all`, apart, axis));
  };
  joined('rule_mean', ({ mean }) => mean, 1);
  joined('rule_deviation', ({ deviation }) => deviation, 1);
  joined('predicted', ({ predicted }) => predicted, 2);
  return graph.finish('Concepts of the context to rules and the concepts of missing panels.');
}

function reasonerInputs(
  graph: NetworkGraph,
  m: number,
  conceptSize: number,
  ruleSize: number,
): ReasonerInputs {
  const concepts = graph.input('concepts', ['N', MATRIX_PANELS, m, conceptSize]);
  const mask = graph.input('mask', ['N', MATRIX_PANELS]);
  const rules = graph.input('rules', ['N', m, ruleSize]);
  const use = graph.input('use_rules', ['N', m]);
  const one = graph.constant('one', new Float32Array([1]), [1]);
  const half = graph.constant('half', new Float32Array([0.5]), [1]);
  const open = graph.entrywise('Sub', 'context', [one, mask]);
  const column = graph.reshape(
    'context.column',
    open,
    [0, MATRIX_PANELS, 1],
    ['N', MATRIX_PANELS, 1],
  );
  const row = graph.reshape('context.row', open, [0, 1, MATRIX_PANELS], ['N', 1, MATRIX_PANELS]);
  const square = graph.entrywise('Mul', 'gates.square', [column, row]); // [N, 9, 9]
  const chosen = graph.entrywise('Greater', 'use', [use, half], 'bool');
  const axis = graph.integers('last', [2]);
  return {
    concepts,
    rules,
    context: column,
    gates: graph.reshape('gates', square, [0, PAIRS, 1], ['N', PAIRS, 1]),
    useRules: graph.node('Unsqueeze', 'use.last', [chosen, axis], ['N', m, 1], {}, 'bool'),
    nineOnes: graph.constant('nine', new Float32Array(MATRIX_PANELS).fill(1), [
      1,
      MATRIX_PANELS,
      1,
    ]),
  };
}

interface ConceptResult {
  /** [N, d_r] */
  readonly mean: Value;
  /** [N, d_r] */
  readonly deviation: Value;
  /** [N, 9, d_z] */
  readonly predicted: Value;
}

function conceptReasoner(
  graph: NetworkGraph,
  { config }: CrabNetworks,
  networks: ConceptNetworks,
  m: number,
  inputs: ReasonerInputs,
): ConceptResult {
  const { ruleSize, ruleDeviationMax } = config;
  const name = (part: string): string => layerName(m, part);
  const own = graph.gather(name('z'), inputs.concepts, m, 2); // [N, 9, d_z]
  const parsed = parseRule(graph, networks, m, own, inputs); // [N, 2 d_r]
  const mean = graph.slice(name('mean'), parsed, 1, 0, ruleSize);
  const raw = graph.slice(name('raw'), parsed, 1, ruleSize, 2 * ruleSize);
  const deviation = ruleDeviation(graph, name('deviation'), raw, ruleDeviationMax);
  const given = graph.gather(name('given'), inputs.rules, m, 1); // [N, d_r]
  const use = graph.node(
    'Gather',
    name('use'),
    [inputs.useRules, graph.integers(name('use.index'), [m], [])],
    ['N', 1],
    { axis: 1 },
    'bool',
  );
  const rule = graph.entrywise('Where', name('rule'), [use, given, mean]);
  const known = graph.entrywise('Mul', name('known'), [own, inputs.context]); // [N, 9, d_z]
  const apart = graph.reshape(name('rule.apart'), rule, [0, 1, ruleSize], ['N', 1, ruleSize]);
  const beside = graph.entrywise('Mul', name('rule.beside'), [apart, inputs.nineOnes]); // [N, 9, d_r]
  const start = graph.concat(name('target.start'), [known, beside], 2); // [N, 9, d_z + d_r]
  const predicted = predictTarget(graph, networks, m, start, config.targetOutputRelu);
  return { mean, deviation, predicted };
}

function ruleDeviation(
  graph: NetworkGraph,
  name: string,
  raw: Value,
  largest: number | null,
): Value {
  if (largest === null) return graph.entrywise('Softplus', name, [raw]);
  const share = graph.entrywise('Sigmoid', `${name}.share`, [raw]);
  const factor = graph.constant(`${name}.largest`, new Float32Array([largest]), [1]);
  return graph.entrywise('Mul', name, [share, factor]);
}

/** f_pair of all pairs and f_relation of those that are context: own [N, 9, d_z] to [N, 2 d_r]. */
function parseRule(
  graph: NetworkGraph,
  { pairFirst, pairSecond, pairHidden, pairOut, relation }: ConceptNetworks,
  m: number,
  own: Value,
  { gates }: ReasonerInputs,
): Value {
  const name = (part: string): string => layerName(m, part);
  const width = Number(own.shape[2]);
  const hidden = pairFirst.weights[pairFirst.weights.length - 1].shape[0];
  const features = pairOut.weights[pairOut.weights.length - 1].shape[0];
  const rows = graph.reshape(name('rows'), own, [-1, width], ['N*9', width]);
  const spread = (part: string, value: Value, sizes: readonly number[]): Value =>
    graph.reshape(name(part), value, [-1, ...sizes], ['N', ...sizes]);
  const first = graph.layer(name('pairFirst'), rows, pairFirst);
  const second = graph.layer(name('pairSecond'), rows, pairSecond, { withBias: false });
  const sum = graph.entrywise('Add', name('pairs'), [
    spread('pairFirst.apart', first, [MATRIX_PANELS, 1, hidden]),
    spread('pairSecond.apart', second, [1, MATRIX_PANELS, hidden]),
  ]); // [N, 9, 9, hidden]
  const all = graph.reshape(name('pairs.rows'), graph.relu(sum), [-1, hidden], ['N*81', hidden]);
  const deeper = graph.relu(graph.layer(name('pairHidden'), all, pairHidden));
  const out = graph.layer(name('pairOut'), deeper, pairOut); // [N * 81, features]
  const pairs = spread('pairOut.apart', out, [PAIRS, features]);
  const gated = graph.entrywise('Mul', name('gated'), [pairs, gates]);
  let x = graph.reshape(name('relation.in'), gated, [0, PAIRS * features], ['N', PAIRS * features]);
  relation.forEach((layer, i) => {
    x = graph.layer(name(`relation${i}`), x, layer);
    if (i < relation.length - 1) x = graph.relu(x);
  });
  return x;
}

/** f_target, its convolutions as products with gathered neighbourhoods: [N, 9, in] to [N, 9, d_z]. */
function predictTarget(
  graph: NetworkGraph,
  { target }: ConceptNetworks,
  m: number,
  start: Value,
  outputRelu: boolean,
): Value {
  const name = (part: string): string => layerName(m, part);
  let x = start;
  target.forEach((layer, i) => {
    const part = name(`target${i}`);
    const width = Number(x.shape[2]);
    const pads = graph.integers(`${part}.pads`, [0, 0, 0, 0, 1, 0]);
    const bordered = graph.node(
      'Pad',
      `${part}.border`,
      [x, pads],
      ['N', MATRIX_PANELS + 1, width],
    );
    const around = graph.gather(`${part}.around`, bordered, NEIGHBOURS, 1); // [N, 81, width]
    const rows = graph.reshape(`${part}.rows`, around, [-1, TAPS * width], ['N*9', TAPS * width]);
    let y = graph.layer(part, rows, layer);
    if (i < target.length - 1 || outputRelu) y = graph.relu(y);
    const out = Number(y.shape[1]);
    x = graph.reshape(`${part}.panels`, y, [-1, MATRIX_PANELS, out], ['N', MATRIX_PANELS, out]);
  });
  return x;
}
