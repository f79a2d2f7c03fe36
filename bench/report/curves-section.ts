// The curves in the report: the cost of a request by one parameter each.
import type { Curve, CurvesResult } from '../curves/curve.ts';
import { lineChart } from './line-chart.ts';
import type { Measure } from './line-chart.ts';
import { escape } from './svg.ts';

const cpu: Measure = ({ cpuUsPerRequest, least, most }) => ({ value: cpuUsPerRequest, least, most });
const memory: Measure = ({ bytesPerConnection = 0 }) => {
  const value = bytesPerConnection / 1024;
  return { value, least: value, most: value };
};

export function curvesSection({ curves }: CurvesResult): string {
  return `<h2>Curves: CPU of the gateway per request, µs</h2><div class="curves">${curves.map(curveFigure).join('')}</div>`;
}

function curveFigure(curve: Curve): string {
  const about = `<figcaption><b>${escape(curve.title)}</b><br><span class="soft">${escape(curve.note)}</span></figcaption>`;
  const isAboutMemory = curve.lines.some(({ points }) => points.some(({ bytesPerConnection }) => bytesPerConnection !== undefined));
  const second = isAboutMemory ? `<p class="soft">Memory per connection, KiB:</p>${lineChart(withMemoryOnly(curve), memory)}` : '';
  const wrong = curve.lines.flatMap(({ contestant, points }) =>
    points.filter(({ faults }) => faults > 0).map(({ x }) => `${contestant} at ${x}`),
  );
  const warning = wrong.length === 0 ? '' : `<p class="wrong">Wrong answers: ${escape(wrong.join(', '))}.</p>`;
  return `<figure>${about}${warning}${lineChart(curve, cpu)}${second}</figure>`;
}

function withMemoryOnly(curve: Curve): Curve {
  const lines = curve.lines.map((each) => ({
    ...each,
    points: each.points.filter(({ bytesPerConnection }) => bytesPerConnection !== undefined),
  }));
  return { ...curve, lines: lines.filter(({ points }) => points.length > 0) };
}
