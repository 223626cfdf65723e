/** Paper, code, licence, documentation, and a button that copies the citation. */
import { CopyButton } from '../parts/copy-button.js';
import { AUTHORS_CODE, bibtex, PAPER } from './paper.js';

export function AboutLinks() {
  return (
    <div class="about-links">
      <a href={PAPER.url} rel="external">
        Paper
      </a>
      <a href={AUTHORS_CODE} rel="external">
        The authors’ code
      </a>
      <a href="./documentation.txt">Documentation</a>
      <a href="./licences/crab-raven.txt">Licence (MIT)</a>
      <CopyButton label="Cite" done="BibTeX copied" text={() => bibtex(PAPER)} shows />
    </div>
  );
}
