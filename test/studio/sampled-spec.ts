/** What the page asks its engine for: matrix 5 of center, with changes. */
import type { SampledSpec } from '../../src/studio/engine/protocol.js';

export const sampledSpec = (changes: Partial<SampledSpec> = {}): SampledSpec => ({
  kind: 'sampled',
  layout: 'center',
  seed: 5,
  index: 0,
  variant: 'i-raven',
  difficulty: 'standard',
  constraints: '',
  edits: '',
  ...changes,
});
