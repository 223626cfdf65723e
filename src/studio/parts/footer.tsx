/** The foot of the page: what this is, and what the model at work is. */
import { ready } from '../state/store.js';

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

export function Footer() {
  const info = ready.value;
  const accuracy = info?.accuracy ?? null;
  return (
    <footer class="footer">
      <p>
        CRAB learns concepts and their rules from matrices alone, without labels, and imagines the
        missing panels. Everything here is worked out on this device; nothing you do leaves it.
      </p>
      <p>
        {info === null
          ? 'No model at work.'
          : `Model ${info.name}: ${info.concepts.length} concepts, ${megabytes(info.bytes)}.`}
        {accuracy !== null &&
          ` Chooses right in ${Object.entries(accuracy)
            .map(([variant, value]) => `${(100 * value).toFixed(1)}% (${variant.toUpperCase()})`)
            .join(', ')}.`}
      </p>
    </footer>
  );
}
