// The report as one self-contained HTML file: no external script, image or font.
import type { CurvesResult } from '../curves/curve.ts';
import type { Machine } from '../machine/description.ts';
import { machineLine } from '../machine/description.ts';
import type { BenchResult } from '../run/results.ts';
import { benchSection } from './bench-section.ts';
import { curvesSection } from './curves-section.ts';
import { STYLE } from './style.ts';
import { escape } from './svg.ts';

export function reportPage(bench: BenchResult | undefined, curves: CurvesResult | undefined): string {
  const sections = [
    ...(bench === undefined ? [] : [measuredOn('npm run bench', bench.machine), benchSection(bench)]),
    ...(curves === undefined ? [] : [curvesSection(curves), measuredOn('npm run task -- bench:curves', curves.machine)]),
  ];
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Lingate: what a request costs</title><style>${STYLE}</style></head>
<body>
<h1>Lingate: what a request costs</h1>
${sections.join('\n')}
</body>
</html>
`;
}

function measuredOn(command: string, machine: Machine): string {
  const versions = Object.entries(machine.versions).map(([name, version]) => `${name} ${version}`);
  return `<p class="soft"><code>${command}</code>, ${escape(machine.measuredAt)}. ${escape(machineLine(machine))}.<br>${escape(versions.join(', '))}.</p>`;
}
