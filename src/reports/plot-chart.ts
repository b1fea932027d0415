import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom';
import { type Markup, markup, trusted } from './markup.ts';
import { shortenMiddle, toPrintable } from './terminal-text.ts';

/** How wide a chart is drawn, and how much room names have in it. */
export type ChartForm = {
  readonly width: number;
  readonly labelWidth: number;
  /** Beside the marks there is room for figures. */
  readonly hasFigures: boolean;
};

/** For a screen and for a phone, where a page shows one of the two. */
const FORMS: readonly (ChartForm & { readonly className: string })[] = [
  { className: 'wide', width: 720, labelWidth: 190, hasFigures: true },
  { className: 'narrow', width: 350, labelWidth: 110, hasFigures: false },
];

export type Chart = {
  readonly title: string;
  /** How to read it, for people who see it. */
  readonly hint: string | null;
  /** What it shows, for people who do not. */
  readonly words: string;
  readonly draw: (form: ChartForm) => Plot.PlotOptions;
};

/** A chart as still SVG in the page's own colours, drawn once for each width. */
export function drawChart({ title, hint, words, draw }: Chart): Markup {
  const figures = FORMS.map((form) => {
    const svg = toSvg({ ...draw(form), width: form.width });
    return markup`<div class="chart ${form.className}" role="img" aria-label="${title}: ${words}">${trusted(svg)}</div>`;
  });
  return markup`<h3>${title}</h3>${hint === null ? null : markup`<p class="soft">${hint}</p>`}${figures}`;
}

function toSvg(options: Plot.PlotOptions): string {
  // The library draws into a document; this one is of this chart alone and needs no browser.
  const { document } = parseHTML('<html></html>');
  const svg = Plot.plot({ ...options, document, className: 'plot', style: { fontSize: '12px' } });
  svg.setAttribute('aria-hidden', 'true');
  return svg.outerHTML;
}

const CHARACTER_WIDTH = 7;

/** A name that fits into the room of its form. */
export const toLabel = (name: string, { labelWidth }: ChartForm): string =>
  shortenMiddle(toPrintable(name), Math.floor((labelWidth - 20) / CHARACTER_WIDTH));
