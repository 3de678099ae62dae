/** How the page of results looks, in light and in dark, on a screen and on a phone. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #fbfaf8; --card: #fff; --ink: #1f2328; --soft: #59636e; --rule: #d9d6d0;
  --bar: #b9c0c9; --own: #2f7d5b; --dot: #1f2328; --no: #b3261e; --yes: #2f7d5b;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #15181c; --card: #1d2126; --ink: #e6e8eb; --soft: #a0a8b2; --rule: #363c44;
    --bar: #56606c; --own: #4fb286; --dot: #f2f3f5; --no: #ff8a80; --yes: #6fce9f;
  }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 76rem; background: var(--ground); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { margin: 0 0 .5rem; font-size: 1.6rem; }
h2 { margin: 3rem 0 .25rem; font-size: 1.3rem; }
h3 { margin: 0; font-size: 1rem; }
h3::first-letter { text-transform: uppercase; }
code { font: .9em ui-monospace, monospace; }
p { margin: .25rem 0 .75rem; max-width: 70ch; }
a { color: inherit; }
nav { display: flex; flex-wrap: wrap; gap: .25rem 1rem; }
.facts, figcaption span { color: var(--soft); font-size: .85rem; }
.facts { max-width: none; }
.charts { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 34rem), 1fr)); align-items: start; }
figure { margin: 0; padding: 1rem; background: var(--card); border: 1px solid var(--rule); border-radius: 8px; min-width: 0; }
figcaption { margin-bottom: .75rem; }
.line { display: grid; grid-template-columns: 10.5rem minmax(0, 1fr) 7.5rem; align-items: center; column-gap: .75rem; }
.name { overflow-wrap: anywhere; line-height: 1.2; font-size: .9rem; }
.value { text-align: right; font-variant-numeric: tabular-nums; font-size: .9rem; white-space: nowrap; }
.own .name, .own .value, tr.own th, tr.own td { font-weight: 600; }
svg { display: block; overflow: visible; }
rect { fill: var(--bar); }
.own rect { fill: var(--own); }
circle { fill: var(--dot); fill-opacity: .45; }
.spread { stroke: var(--dot); stroke-width: 1.5; }
.grid { stroke: var(--rule); stroke-width: 1; }
.scale { color: var(--soft); font-size: .75rem; }
.scale span:last-child { text-align: right; }
text { fill: var(--soft); font-size: .75rem; }
.wide { overflow-x: auto; margin-top: .75rem; }
table { border-collapse: collapse; width: 100%; font-size: .8rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem 0 .25rem .7rem; text-align: right; white-space: nowrap; border-top: 1px solid var(--rule); font-weight: 400; vertical-align: top; }
thead th { border-top: 0; color: var(--soft); vertical-align: bottom; }
th:first-child { padding-left: 0; text-align: left; white-space: normal; }
.notes { margin: .75rem 0 0; padding-left: 1.1rem; color: var(--soft); font-size: .85rem; }
.yes { color: var(--yes); }
.no { color: var(--no); }
@media (max-width: 34rem) {
  body { padding-inline: .75rem; }
  figure { padding: .75rem; }
  th, td { padding-left: .45rem; }
  .line { grid-template-columns: 1fr auto; margin-bottom: .35rem; }
  .line svg { grid-row: 2; grid-column: 1 / -1; }
  .scale span:first-child { display: none; }
  .scale svg { grid-row: 1; grid-column: 1 / -1; }
  .scale span:last-child { grid-row: 2; grid-column: 1 / -1; }
}
`;
