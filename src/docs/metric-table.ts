// The table of metrics in the operator's manual: names and labels, and the help texts that `/metrics` shows too.

interface DescribedMetric {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
}

export function metricTable(metrics: readonly DescribedMetric[]): string {
  const rows = metrics.map(
    ({ name, labels, help }) => `| \`${name}\` | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help.replaceAll('|', '\\|')} |`,
  );
  return ['| metric | labels | |', '|---|---|---|', ...rows].join('\n');
}
