// Makes a problem, lets a model solve it, and solves a picture that the visitor chooses. The models are
// those of the package's zoo folder, copied to public/zoo: see README.md.
import { describeRules, panelsOf, readProblem, sampleProblem, Solver } from 'crab-raven';

const byId = (id) => document.getElementById(id);

/** A canvas with a panel of 64x64 values; what the solver imagines has 0 to 1, a drawn panel 0 to 255. */
function canvasOf(panel) {
  const canvas = Object.assign(document.createElement('canvas'), { width: 64, height: 64 });
  const scale = panel instanceof Float32Array ? 255 : 1;
  const grey = Uint8ClampedArray.from(panel, (value) => value * scale);
  const pixels = new ImageData(64, 64);
  grey.forEach((value, i) => pixels.data.set([value, value, value, 255], 4 * i));
  canvas.getContext('2d').putImageData(pixels, 0, 0);
  return canvas;
}

async function solve(solver, { panels, missing, candidates }) {
  const answer = await solver.solve(panels, { missing });
  const { index, confidence } = await solver.choose(answer, candidates);
  const text = `candidate ${index + 1}, ${Math.round(100 * confidence)}% sure`;
  return { text, imagined: answer.images[0] };
}

const problem = sampleProblem({ configuration: 'center', variant: 'i-raven', seed: 1, index: 0 });
const drawn = panelsOf(problem);
byId('rules').textContent = describeRules(problem).join('; ');

const solver = await Solver.load('center');
const { text, imagined } = await solve(solver, drawn);
const matrix = byId('matrix');
matrix.style = 'display: grid; grid-template-columns: repeat(3, 64px); gap: 8px';
matrix.append(...drawn.panels.map((panel) => canvasOf(panel ?? imagined)));
byId('choice').textContent = `${text}; the answer is ${drawn.answer + 1} (${solver.backend})`;

byId('file').addEventListener('change', async ({ target }) => {
  try {
    byId('own').textContent = (await solve(solver, await readProblem(target.files[0]))).text;
  } catch (error) {
    byId('own').textContent = error.message;
  }
});
