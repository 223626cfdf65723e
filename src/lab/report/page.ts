/** The page around a report: one file, no network, light or dark as the reader's system is. */
import { paletteCss } from '../figures/index.js';
import { markup, Markup, NOTHING, type Content, type Section } from './markup.js';

const STYLE = `
:root { color-scheme: light dark; ${paletteCss('light')} --page: #f6f7f9; --card: #ffffff; --line: #dfe3e8; }
@media (prefers-color-scheme: dark) { :root { ${paletteCss('dark')} --page: #0d1014; --card: #14181d; --line: #2a323b; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--figure-ink); font: 16px/1.55 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; }
main { max-width: 1150px; margin: 0 auto; padding: 40px 20px 72px; }
header p { color: var(--figure-muted); margin: 6px 0 0; max-width: 70ch; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0; letter-spacing: -0.015em; }
h2 { font-size: 1.3rem; margin: 0 0 12px; letter-spacing: -0.01em; }
h3 { font-size: 1rem; margin: 24px 0 8px; }
a { color: var(--figure-accent); }
nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: 4px 18px; padding: 0; margin: 20px 0 0; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 24px; margin-top: 24px; }
section p { max-width: 72ch; margin: 0 0 14px; }
.headlines { list-style: none; display: grid; grid-template-columns: repeat(auto-fit, minmax(170px, 1fr)); gap: 12px; padding: 0; margin: 28px 0 0; }
.headlines li { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 16px 18px; display: flex; flex-direction: column; }
.headlines strong { font-size: 1.75rem; line-height: 1.15; letter-spacing: -0.02em; font-variant-numeric: tabular-nums; }
.headlines span { margin-top: 4px; }
.headlines small { color: var(--figure-muted); }
figure { margin: 22px 0 0; }
figure svg { display: block; max-width: none; height: auto; }
figcaption { color: var(--figure-muted); font-size: 0.9rem; margin-top: 8px; max-width: 80ch; }
.wide { overflow-x: auto; padding: 3px; margin: -3px; }
figure + .wide { margin-top: 18px; }
.wide:focus-visible { outline: 2px solid var(--figure-accent); outline-offset: 3px; }
table { border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 5px 14px 5px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td:first-child { white-space: nowrap; }
th { font-weight: 600; color: var(--figure-muted); white-space: nowrap; }
.number { text-align: right; white-space: nowrap; }
tr.marked td { background: color-mix(in srgb, var(--figure-accent) 12%, transparent); font-weight: 600; }
tr.parted td { border-top: 2px solid var(--figure-faint); }
.interval { color: var(--figure-muted); font-weight: 400; }
details { margin-top: 18px; } summary { cursor: pointer; }
dl.facts { display: grid; grid-template-columns: max-content 1fr; gap: 4px 18px; margin: 0; font-size: 0.9rem; }
dl.facts dt { color: var(--figure-muted); } dl.facts dd { margin: 0; overflow-wrap: anywhere; }
footer { color: var(--figure-muted); font-size: 0.85rem; margin-top: 28px; }
@media print { section, .headlines li { break-inside: avoid; border: 0; padding: 0; } body { background: none; } }
`;

interface Page {
  readonly title: string;
  readonly lead: Content;
  readonly top?: Content;
  readonly sections: readonly Section[];
  readonly footer: Content;
}

/** A complete HTML document. */
export function pageText({ title, lead, top = NOTHING, sections, footer }: Page): string {
  const links = sections.map(
    (section) => markup`<li><a href="#${section.id}">${section.title}</a></li>`,
  );
  const body = sections.map(
    (section) =>
      markup`<section id="${section.id}"><h2>${section.title}</h2>${section.content}</section>\n`,
  );
  const document = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${new Markup(STYLE)}</style>
</head>
<body>
<main>
<header><h1>${title}</h1><p>${lead}</p>
<nav aria-label="Sections"><ul>${links}</ul></nav></header>
${top}
${body}
<footer>${footer}</footer>
</main>
</body>
</html>
`;
  return document.text;
}
