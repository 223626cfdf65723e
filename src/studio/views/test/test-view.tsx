/** Test: a fixed list of items by link, answered without feedback, with times, and a table at the end. */
import { session } from '../../state/test-session.js';
import { ItemStep } from './item-step.js';
import { Outcome } from './outcome.js';
import { StartForm } from './start-form.js';

export function TestView() {
  const { phase } = session.value;
  return (
    <div class="test">
      <h1 class={phase === 'start' ? '' : 'unseen'}>Test yourself, or others</h1>
      {phase === 'start' && <StartForm />}
      {(phase === 'practice' || phase === 'items') && (
        <ItemStep key={`${phase} ${session.value.given.length}`} />
      )}
      {phase === 'end' && <Outcome />}
    </div>
  );
}
