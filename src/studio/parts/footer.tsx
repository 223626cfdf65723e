/** The foot of the page: what this is, and what the model at work is. */
import { megabytes } from '../../base/index.js';
import { ready } from '../state/store.js';
import { AboutLinks } from '../story/about-links.js';
import { PAPER } from '../story/paper.js';

/** "Shi, Li and Xue" */
const names = (authors: typeof PAPER.authors): string => {
  const families = authors.map(({ family }) => family);
  return `${families.slice(0, -1).join(', ')} and ${families.at(-1) ?? ''}`;
};

export function Footer() {
  const info = ready.value;
  const accuracy = info?.accuracy ?? null;
  return (
    <footer class="footer">
      <div>
        <p>
          CRAB, Concept-changing Rule ABstraction, is the model of {names(PAPER.authors)} (
          {PAPER.year}). It learns concepts and their rules from matrices alone, without labels.
          Everything here is worked out on this device; nothing you do leaves it.
        </p>
        <AboutLinks />
      </div>
      <p>
        {info === null
          ? 'No model at work.'
          : `Model ${info.name}: ${info.concepts.length} concepts, ${megabytes(info.bytes)} MB.`}
        {accuracy !== null &&
          ` Chooses right in ${Object.entries(accuracy)
            .map(([variant, value]) => `${(100 * value).toFixed(1)}% (${variant.toUpperCase()})`)
            .join(', ')}.`}
      </p>
    </footer>
  );
}
