// The layer rule. Folders of src/ are layers, lowest first; a file imports only from lower layers and
// only through their index.ts, or node.ts if the importing file runs in Node anyway. Some layers are
// stricter still, so that nothing in a page can reach Node-only code and torch stays a library of its
// own: ALLOWED lists what they see.
import path from 'node:path';

const LAYERS = [
  'base',
  'matrix',
  'torch',
  'solver',
  'models',
  'training',
  'lab',
  'protocol',
  'studio',
  'server',
  'cli',
];
const ALLOWED = {
  torch: ['base'],
  solver: ['base', 'matrix'],
  protocol: [],
  studio: ['base', 'matrix', 'solver', 'protocol'],
};
const BROWSER = new Set(['base', 'matrix', 'solver', 'protocol', 'studio']);

const isNodeOnly = (inLayer) => inLayer === 'node.ts' || inLayer.startsWith('node/');

/** Why a file may not import another, or null. Both are paths relative to src/, with forward slashes. */
export function layerViolation(from, to) {
  const [layer, ...fromRest] = from.split('/');
  const [target, ...toRest] = to.split('/');
  const fromFile = fromRest.join('/');
  const toFile = toRest.join('/');
  if (!LAYERS.includes(layer) || !LAYERS.includes(target)) {
    return `src/ holds only the layers ${LAYERS.join(', ')}`;
  }
  const nodeSide = !BROWSER.has(layer) || isNodeOnly(fromFile);
  if (isNodeOnly(toFile) && !nodeSide) {
    return `${from} runs in a browser and must not reach the Node-only ${to}`;
  }
  if (layer === target) return null;
  const allowed = ALLOWED[layer] ?? LAYERS.slice(0, LAYERS.indexOf(layer));
  if (!allowed.includes(target)) {
    return `layer ${layer} may import only from ${allowed.join(', ') || 'itself'}, not from ${target}`;
  }
  if (toFile !== 'index.ts' && toFile !== 'node.ts') {
    return `import ${target} through its index.ts or node.ts, not ${to}`;
  }
  return null;
}

export default {
  meta: { type: 'problem', schema: [], messages: { layer: '{{why}}' } },
  create(context) {
    const source = path.join(context.cwd, 'src');
    const from = path.relative(source, context.filename).split(path.sep).join('/');
    if (from.startsWith('..')) return {};
    const check = (node) => {
      const specifier = node.source?.value;
      if (typeof specifier !== 'string' || !specifier.startsWith('.')) return;
      const resolved = path
        .resolve(path.dirname(context.filename), specifier)
        .replace(/\.js$/, '.ts');
      const to = path.relative(source, resolved).split(path.sep).join('/');
      if (to.startsWith('..')) return;
      const why = layerViolation(from, to);
      if (why) context.report({ node, messageId: 'layer', data: { why } });
    };
    return {
      ImportDeclaration: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
      ImportExpression: check,
    };
  },
};
