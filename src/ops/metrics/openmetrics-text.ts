// Writes metrics as OpenMetrics text, which unlike Prometheus's own format has exemplars: `trace_id` of a request for each bucket.
import type { Exemplar, MetricFamily, MetricSample, MetricsSnapshot } from '../../ports/metric-family.ts';

export const OPENMETRICS_TYPE = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

const MEDIA_TYPE = 'application/openmetrics-text';
const TOTAL = '_total';

/** Whether a scraper would rather have OpenMetrics than Prometheus's text: by the qualities of an `Accept` field. */
export function prefersOpenMetrics(accept: string): boolean {
  const wanted = qualityOf(accept, [MEDIA_TYPE]);
  return wanted > 0 && wanted >= qualityOf(accept, ['text/plain']);
}

/** The highest quality of these types; 0 if none is listed by name. */
function qualityOf(accept: string, types: readonly string[]): number {
  const qualities = accept.split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    if (!types.includes(type)) return 0;
    return quality === undefined ? 1 : Number(quality) || 0;
  });
  return Math.max(...qualities);
}

export function openMetricsText(families: MetricsSnapshot): string {
  const taken = new Set(families.map(({ name }) => name));
  return `${families.map((family) => familyText(family, taken)).join('')}# EOF\n`;
}

function familyText({ name, help, type, values }: MetricFamily, taken: ReadonlySet<string>): string {
  const bare = name.endsWith(TOTAL) ? name.slice(0, -TOTAL.length) : undefined;
  // A counter's family is named without the suffix of its series; one that has none, or another's name, is of no known type.
  const isCounter = type === 'counter' && bare !== undefined && !taken.has(bare);
  const family = isCounter ? bare : name;
  const shown = type === 'counter' && !isCounter ? 'unknown' : type;
  const series = values.map((sample) => sampleText(name, sample)).join('');
  return `# TYPE ${family} ${shown}\n# HELP ${family} ${escaped(help)}\n${series}`;
}

function sampleText(family: string, { metricName, labels, value, exemplar }: MetricSample): string {
  const pairs = Object.entries(labels).map(([name, text]) => `${name}="${escaped(String(text))}"`);
  const named = pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
  return `${metricName ?? family}${named} ${numberText(value)}${exemplar ? exemplarText(exemplar) : ''}\n`;
}

function exemplarText({ traceId, value, atMs }: Exemplar): string {
  return ` # {trace_id="${traceId}"} ${numberText(value)} ${(atMs / 1000).toFixed(3)}`;
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}
