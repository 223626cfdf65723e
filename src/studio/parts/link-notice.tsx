/** Says what of the link that was opened could not be understood, until another matrix or test is chosen. */
import { foundInLink } from '../state/store.js';

export function LinkNotice() {
  const faults = foundInLink.value;
  if (faults.length === 0) return null;
  return (
    <div class="fault link-notice" role="alert" data-testid="link-faults">
      {faults.map(({ name, words }) => (
        <p key={name}>{words}</p>
      ))}
    </div>
  );
}
