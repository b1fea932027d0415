/** The page's style: light and dark by the reader's setting, tables that scroll by themselves on a phone. */
export const STYLE = `
:root { color-scheme: light dark; --text: #1c1f23; --soft: #555c66; --back: #ffffff; --panel: #f4f5f7; --line: #c9ced6;
  --good: #0b6b35; --bad: #a3121f; --warn: #7a4b00; --mark: #1f5fbf; --goodback: #d9f2e3; --badback: #fbdcdf; --warnback: #fdeccb; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e8eb; --soft: #a9b1bc; --back: #15181c; --panel: #1f242a;
  --line: #3b434d; --good: #6fd89a; --bad: #ff8f98; --warn: #f2bf6b; --mark: #84b6ff; --goodback: #123a25; --badback: #4a1b20; --warnback: #46340f; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 76rem; color: var(--text); background: var(--back);
  font: 16px/1.45 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; } h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; } h3 { font-size: 1rem; margin: 1.25rem 0 .25rem; }
p { margin: .25rem 0; } .soft { color: var(--soft); } code, pre { font-family: ui-monospace, monospace; font-size: .85rem; }
pre { white-space: pre-wrap; margin: .25rem 0; padding: .5rem; background: var(--panel); border: 1px solid var(--line); border-radius: .25rem; }
nav a { margin-right: 1rem; } a { color: var(--mark); }
:focus-visible { outline: 3px solid var(--mark); outline-offset: 2px; }
.scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: .25rem; }
.scroll.tall { max-height: 80vh; overflow-y: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .6rem; text-align: right; vertical-align: top; border-bottom: 1px solid var(--line); }
td, thead th { white-space: nowrap; } th[scope=row], th.text, td.text { text-align: left; white-space: normal; overflow-wrap: normal; }
th[scope=row] { min-width: 8rem; overflow-wrap: anywhere; } thead th { background: var(--panel); position: sticky; top: 0; }
td small, th small { display: block; color: var(--soft); font-weight: normal; }
.matrix td { text-align: center; padding: .1rem .4rem; } .matrix thead th { white-space: normal; min-width: 6.5rem; }
.pass { color: var(--good); background: var(--goodback); } .fail { color: var(--bad); background: var(--badback); }
.part, .none { color: var(--warn); background: var(--warnback); }
details { margin: .4rem 0; padding: .4rem .6rem; border: 1px solid var(--line); border-radius: .25rem; } summary { cursor: pointer; }
.tag { display: inline-block; padding: 0 .4rem; border-radius: .25rem; font-size: .85rem; }
.chart { margin: .25rem 0; } .chart svg { display: block; max-width: 100%; height: auto; overflow: visible; }
.chart.narrow { display: none; } @media (max-width: 40rem) { .chart.wide { display: none; } .chart.narrow { display: block; } }
@media print { .scroll { overflow: visible; } .scroll.tall { max-height: none; } }
`;
