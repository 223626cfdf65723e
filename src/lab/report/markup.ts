/**
 * HTML written safely: every value put into a template is escaped unless it is markup itself, so that a
 * file name or a respondent's name can never become code of the page.
 */
import { percent } from '../../base/index.js';
import { escapeXml } from '../../matrix/index.js';
import type { Measured } from '../evaluation.js';
import { toSvg, type Figure } from '../figures/index.js';

/** A piece of HTML. */
export class Markup {
  constructor(readonly text: string) {}
}

export type Content = string | number | Markup | readonly Content[];

const render = (content: Content): string => {
  if (content instanceof Markup) return content.text;
  if (typeof content === 'string' || typeof content === 'number') return escapeXml(String(content));
  return content.map(render).join('');
};

/** A template whose values are escaped. */
export const markup = (parts: TemplateStringsArray, ...values: readonly Content[]): Markup =>
  new Markup(parts.map((part, i) => part + (i < values.length ? render(values[i]) : '')).join(''));

export const NOTHING = new Markup('');

interface Column {
  readonly title: string;
  /** Numbers stand to the right. */
  readonly numeric?: boolean;
}

export interface TableRow {
  readonly cells: readonly Content[];
  readonly marked?: boolean;
  /** A line above the row. */
  readonly parted?: boolean;
}

/** Columns by their titles; those that begin with # are of numbers. */
export const columns = (...titles: readonly string[]): Column[] =>
  titles.map((title) =>
    title.startsWith('#') ? { title: title.slice(1), numeric: true } : { title },
  );

const cell = (column: Column, content: Content): Markup =>
  column.numeric === true
    ? markup`<td class="number">${content}</td>`
    : markup`<td>${content}</td>`;

const rowClass = ({ marked, parted }: TableRow): string =>
  [marked === true ? 'marked' : '', parted === true ? 'parted' : ''].filter(Boolean).join(' ');

/** A table that scrolls sideways on narrow pages. */
export function table(columns: readonly Column[], rows: readonly TableRow[]): Markup {
  const head = columns.map(({ title, numeric }) =>
    numeric === true
      ? markup`<th class="number" scope="col">${title}</th>`
      : markup`<th scope="col">${title}</th>`,
  );
  const body = rows.map((row) => {
    const cells = row.cells.map((content, i) => cell(columns[i], content));
    return markup`<tr class="${rowClass(row)}">${cells}</tr>`;
  });
  return markup`<div class="wide" tabindex="0"><table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>`;
}

/** A figure of a report. */
export interface ReportFigure {
  /** For anchors and file names. */
  readonly id: string;
  readonly figure: Figure;
  /** What is seen, and what it says. */
  readonly caption: Content;
}

export const figureMarkup = ({ id, figure, caption }: ReportFigure): Markup =>
  markup`<figure id="${id}"><div class="wide" tabindex="0">${new Markup(toSvg(figure))}</div><figcaption>${caption}</figcaption></figure>`;

export interface Section {
  readonly id: string;
  readonly title: string;
  readonly content: Content;
}

/** A large number with what it means below it. */
export interface Headline {
  readonly value: string;
  readonly meaning: string;
  readonly detail?: string;
}

export const headlines = (list: readonly Headline[]): Markup =>
  markup`<ul class="headlines">${list.map(
    ({ value, meaning, detail }) =>
      markup`<li><strong>${value}</strong><span>${meaning}</span>${
        detail === undefined ? NOTHING : markup`<small>${detail}</small>`
      }</li>`,
  )}</ul>`;

/** 97.1% [96.0, 98.0] */
export const percentInterval = ({ value, low, high }: Measured): Markup =>
  markup`${percent(value)} <span class="interval">[${(100 * low).toFixed(1)}, ${(100 * high).toFixed(1)}]</span>`;

export const numberInterval = ({ value, low, high }: Measured, digits = 4): Markup =>
  markup`${value.toFixed(digits)} <span class="interval">[${low.toFixed(digits)}, ${high.toFixed(digits)}]</span>`;

/** As many decimals as two digits of a small number need. */
export const smallInterval = (measured: Measured): Markup =>
  numberInterval(measured, Math.max(4, 1 - Math.floor(Math.log10(Math.max(1e-9, measured.value)))));
