/** Paper, code, licence, documentation, and a button that copies the citation. */
import { useSignal } from '@preact/signals';
import { AUTHORS_CODE, bibtex, PAPER } from './paper.js';

const SHOWN_MILLISECONDS = 2500;

function CiteButton() {
  const said = useSignal('');
  const entry = bibtex(PAPER);
  /** The entry as text to select, where a browser refuses to copy. */
  const isShown = useSignal(false);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(entry);
      said.value = 'BibTeX copied';
    } catch {
      isShown.value = true;
    }
    setTimeout(() => (said.value = ''), SHOWN_MILLISECONDS);
  };
  return (
    <>
      <button type="button" class="quiet" onClick={() => void copy()}>
        <span aria-live="polite">{said.value || 'Cite'}</span>
      </button>
      {isShown.value && <pre class="bibtex">{entry}</pre>}
    </>
  );
}

export function AboutLinks() {
  return (
    <p class="about-links">
      <a href={PAPER.url} rel="external">
        Paper
      </a>
      <a href={AUTHORS_CODE} rel="external">
        The authors’ code
      </a>
      <a href="./documentation.txt">Documentation</a>
      <a href="./licences/crab-raven.txt">Licence (MIT)</a>
      <CiteButton />
    </p>
  );
}
