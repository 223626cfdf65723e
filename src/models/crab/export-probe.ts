/** Observes CRAB's layers at work (onnx/probe.ts), one concept at a time, so that memory stays bounded. */
import { MATRIX_PANELS } from '../../matrix/index.js';
import type { ProbedLayer } from '../onnx/compact.js';
import {
  probeEncoder,
  probeReasoner,
  type EncodedProblems,
  type ProbedProblems,
} from '../onnx/probe.js';
import { reasonerGraph } from './export-graphs.js';
import type { CrabNetworks } from './export-networks.js';

/** Runs the reasoner of one concept, m, on all problems. */
function probeConcept(
  networks: CrabNetworks,
  m: number,
  probed: ReadonlySet<string>,
  problems: EncodedProblems,
): Promise<Iterable<ProbedLayer>> {
  const { concepts, conceptSize: size, ruleSize } = networks.config;
  const alone: CrabNetworks = {
    ...networks,
    config: { ...networks.config, concepts: 1 },
    concepts: [networks.concepts[m]],
  };
  const panels = problems.count * MATRIX_PANELS;
  const rows = new Float32Array(panels * size);
  for (let i = 0; i < panels; i++) {
    const from = (i * concepts + m) * size;
    rows.set(problems.rows.subarray(from, from + size), i * size);
  }
  const bytes = reasonerGraph(alone, { format: 'f32', probed });
  return probeReasoner(bytes, { ...problems, rows }, [1, size], (n) => ({
    rules: { data: new Float32Array(n * ruleSize), shape: [n, 1, ruleSize] },
    use_rules: { data: new Float32Array(n), shape: [n, 1] },
  }));
}

/** Outputs of the named layers, layer by layer. */
export async function* probeLayers(
  networks: CrabNetworks,
  names: ReadonlySet<string>,
  options: ProbedProblems,
): AsyncGenerator<ProbedLayer> {
  const { layers, problems } = await probeEncoder(networks, networks.config, names, options);
  yield* layers;
  for (let m = 0; m < networks.concepts.length; m++) {
    const prefix = `concept${m}.`;
    const own = [...names].filter((name) => name.startsWith(prefix));
    // The graph of a concept alone calls it concept 0.
    const probed = new Set(own.map((name) => `concept0.${name.slice(prefix.length)}`));
    for (const { name, samples } of await probeConcept(networks, m, probed, problems)) {
      yield { name: prefix + name.slice('concept0.'.length), samples };
    }
  }
}
