/** What the page says of the paper: facts of CITATION.cff, put in when the page is built. */

interface Citation {
  readonly title: string;
  readonly authors: readonly { readonly family: string; readonly given: string }[];
  readonly year: number;
  readonly url: string;
}

declare const CITATION: Citation;

export const PAPER: Citation = CITATION;

/** The authors' own program, as the paper names it. */
export const AUTHORS_CODE =
  'https://github.com/FudanVI/generative-abstract-reasoning/tree/main/crab';

/** The paper as an entry for BibTeX. */
export function bibtex({ title, authors, year, url }: Citation): string {
  const number = url.split('/').at(-1) ?? '';
  const fields = [
    ['title', title],
    ['author', authors.map(({ family, given }) => `${family}, ${given}`).join(' and ')],
    ['journal', `arXiv preprint arXiv:${number}`],
    ['year', String(year)],
    ['url', url],
  ];
  const lines = fields.map(([name, value]) => `  ${name} = {${value}}`);
  return `@article{${authors[0].family.toLowerCase()}${year}crab,\n${lines.join(',\n')}\n}\n`;
}
