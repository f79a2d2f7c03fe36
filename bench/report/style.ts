// The report's styles, light and dark.

export const STYLE = `
:root { color-scheme: light dark; --ink: #1c2430; --soft: #667085; --rule: #dfe3ea; --paper: #fff; --bar: #aeb7c6; --ours: #1668c7; --second: #c2571a; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ef; --soft: #98a2b3; --rule: #333b48; --paper: #14181f; --bar: #566176; --ours: #5aa5f5; --second: #f0975a; }
}
body { margin: 2rem auto; max-width: 60rem; padding: 0 1rem; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.15rem; margin: 2.2rem 0 0.4rem; }
p, li { max-width: 46rem; } .soft { color: var(--soft); } .wrong { color: #c22; font-weight: 600; }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; display: block; overflow-x: auto; }
th, td { padding: 0.25rem 0.6rem; text-align: right; border-bottom: 1px solid var(--rule); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
svg { width: 100%; height: auto; font: 12px system-ui, sans-serif; }
.grid { stroke: var(--rule); } .tick, .name, .value, .label { fill: var(--soft); } .tick { text-anchor: middle; } .name { text-anchor: end; } .value { fill: var(--ink); }
.bar, .quantile { fill: var(--bar); } .bar.ours, .quantile.ours { fill: var(--ours); }
.whisker { stroke: var(--ink); opacity: 0.55; } .round { fill: var(--ink); opacity: 0.45; }
.path { fill: none; stroke-width: 2; } .path.line0 { stroke: var(--ours); } .path.line1 { stroke: var(--second); } .path.line2 { stroke: var(--soft); }
.mark.line0 { fill: var(--ours); } .mark.line1 { fill: var(--second); } .mark.line2 { fill: var(--soft); }
.curves { display: grid; grid-template-columns: repeat(auto-fit, minmax(22rem, 1fr)); gap: 1.5rem; }
`;
