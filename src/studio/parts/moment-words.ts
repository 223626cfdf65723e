/** A moment of training in words. */
import { counted } from '../../base/index.js';
import type { ModelInfo } from '../engine/protocol.js';

/** "40 seconds", "6.2 minutes". */
function duration(seconds: number): string {
  if (seconds < 1) return 'less than a second';
  const whole = Math.round(seconds);
  if (whole < 90) return counted(whole, 'second');
  return `${(seconds / 60).toFixed(1)} minutes`;
}

/** How far its training was at a moment: "After 3,400 steps of training, about 40 seconds". */
export function momentWords(
  { moments, training }: Pick<ModelInfo, 'moments' | 'training'>,
  index: number,
): string {
  const [step, last] = [moments[index], moments[moments.length - 1]];
  if (step === 0) return 'Before the first step of training';
  const steps = `After ${step.toLocaleString('en')} steps of training`;
  const { seconds } = training;
  if (typeof seconds !== 'number' || seconds === 0) return steps;
  // Steps take about as long at any time; only the time of all of them is kept.
  const time = duration((seconds * step) / last);
  return `${steps}, ${step === last || time.startsWith('less') ? '' : 'about '}${time}`;
}
