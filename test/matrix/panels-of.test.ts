/** A sampled problem as pictures, without a layout at hand. */
import { describe, expect, test } from 'vitest';
import {
  ArgumentError,
  CONFIGURATIONS,
  FormatError,
  panelsOf,
  renderProblem,
  sampleProblem,
  SMALL_PIXELS,
  type Problem,
} from '../../src/matrix/index.js';

describe('panelsOf', () => {
  test.each(CONFIGURATIONS)('draws what renderProblem draws: %s', (configuration) => {
    const problem = sampleProblem({ configuration, seed: 3, index: 5 });
    const { panels, missing, candidates, answer } = panelsOf(problem);
    expect(panels).toHaveLength(9);
    expect(panels[8]).toBeNull();
    expect([missing, answer]).toEqual([[9], problem.target]);
    const { small } = renderProblem(problem);
    const drawn = [...panels.slice(0, 8), ...candidates];
    expect(drawn).toHaveLength(16);
    drawn.forEach((panel, i) => {
      expect(panel).toEqual(small.subarray(i * SMALL_PIXELS, (i + 1) * SMALL_PIXELS));
    });
  });

  test('draws noisy problems by their own layout', () => {
    const problem = sampleProblem({ configuration: 'grid-2x2', noisy: true, seed: 3, index: 5 });
    const { small } = renderProblem(problem);
    expect(panelsOf(problem).panels[0]).toEqual(small.subarray(0, SMALL_PIXELS));
  });

  test.each([undefined, null, 7, 'center', {}, [], { context: [] }])(
    'says what it expects instead of %j',
    (value) => {
      const call = (): unknown => panelsOf(value as unknown as Problem);
      expect(call).toThrow(ArgumentError);
      expect(call).toThrow('panelsOf: expected a problem, such as sampleProblem gives');
    },
  );

  test('names what is wrong with a problem', () => {
    const problem = sampleProblem({ configuration: 'center', seed: 1, index: 0 });
    const short = { ...problem, context: problem.context.slice(1) };
    expect(() => panelsOf(short)).toThrow(FormatError);
    expect(() => panelsOf(short)).toThrow('context: expected 8 items, found 7');
  });
});
