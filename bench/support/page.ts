/** The page of all results. It stands alone: nothing on it is fetched. */
import type { Result, Row } from "./bench.js";
import { chartsOf, drawChart, type Chart, type Mark } from "./chart.js";
import { barText, number } from "./format.js";
import { html, Html } from "./html.js";
import { machineLine } from "./machine.js";
import { STYLE } from "./style.js";

/** Writes the page. */
export function pageOf(results: readonly Result[]): string {
  const bars = results.flatMap(({ rows }) => rows).filter(({ holds }) => holds !== undefined);
  const broken = bars.filter(({ holds }) => holds === false);
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>toolcell: measurements</title>
        <style>
          ${new Html(STYLE)}
        </style>
      </head>
      <body>
        <header>
          <h1>toolcell: measurements</h1>
          <p>
            Made by <code>npm run bench -- --save</code>. Everyone in a chart was measured in the same run, in turns. A
            bar ends at the figure, most often the middle sample; the line covers the middle eight tenths of the
            samples, each dot is one. The best is on top.
          </p>
          ${
            results.length === 0
              ? html`<p>Nothing has been measured yet.</p>`
              : html`<p>
                  <strong>${bars.length - broken.length} of ${bars.length}</strong> figures with a number to hold keep
                  to it.
                </p>`
          }
          <nav>${results.map(({ name, title }) => html`<a href="#${name}">${title}</a> `)}</nav>
        </header>
        <main>${results.map(section)}</main>
      </body>
    </html> `;
  return String(page)
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean)
    .join("\n");
}

function section({ name, title, how, quick, at, machine, rows }: Result): Html {
  return html`<section id="${name}">
    <h2>${title}</h2>
    <p>${prose(how)}</p>
    <p class="facts">
      ${quick ? html`<strong>A quick look, no figures to quote.</strong> ` : undefined}
      <time datetime="${at}">${at.slice(0, 16).replace("T", " ")} UTC</time> · ${machineLine(machine)} ·
      <a href="${name}.json">all samples</a>
    </p>
    <div class="charts">${chartsOf(rows).map(figure)}</div>
  </section>`;
}

function figure(chart: Chart): Html {
  return html`<figure>
    <figcaption>
      <h3>${chart.question}</h3>
      <span>${chart.unit}, ${chart.better} is better</span>
    </figcaption>
    ${drawChart(chart)}
    <div class="wide">${table(chart)}</div>
    ${notes(chart)}
  </figure>`;
}

function table({ marks, rows, unit }: Chart): Html {
  const own = marks.find((mark) => mark.own);
  const compared = rows.some(({ ratio }) => ratio !== undefined);
  const held = rows.some(({ bar }) => bar);
  return html`<table>
    <thead>
      <tr>
        <th scope="col">who</th>
        <th scope="col">${unit}</th>
        ${compared ? html`<th scope="col">${own?.name} ÷ it</th>` : undefined}
        ${held ? html`<th scope="col">holds</th>` : undefined}
        <th scope="col">10 % – 90 %</th>
        <th scope="col">samples</th>
      </tr>
    </thead>
    <tbody>
      ${marks.map((mark) => {
        const ratio = rows.find(({ peerName }) => peerName === mark.name && !mark.own)?.ratio;
        return html`<tr class="${mark.own ? "own" : ""}">
          <th scope="row">${mark.name}</th>
          <td>${number(mark.value)}</td>
          ${compared ? html`<td>${ratio === undefined ? "" : `${number(ratio)} ×`}</td>` : undefined}
          ${held ? html`<td>${verdict(barOf(mark, rows))}</td>` : undefined}
          <td>${number(mark.low)} – ${number(mark.high)}</td>
          <td>${mark.samples.length}</td>
        </tr>`;
      })}
    </tbody>
  </table>`;
}

function notes({ rows }: Chart): Html | undefined {
  const noted = rows.filter(({ note }) => note !== undefined);
  if (noted.length === 0) return undefined;
  return html`<ul class="notes">
    ${noted.map(({ peerName, note }) => html`<li>${peerName}: ${prose(note ?? "")}</li>`)}
  </ul>`;
}

/** The row whose bar is about what a mark shows: the measured value, or its ratio to the mark. */
function barOf({ name, own }: Mark, rows: readonly Row[]): Row | undefined {
  return rows.find(({ bar, peerName }) => (own ? bar?.of === "measured" : bar?.of === "ratio" && peerName === name));
}

function verdict(row: Row | undefined): Html | undefined {
  if (!row?.bar) return undefined;
  const text = barText(row.bar, row.unit);
  return row.holds === true
    ? html`${text}: <span class="yes">yes</span>`
    : html`${text}: <strong class="no">no</strong>`;
}

/** Text in which backticks stand around code. */
function prose(text: string): Html[] {
  return text.split("`").map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
}
