// Planted bugs in what is written into the Helm chart: the schema of its values.
import type { Mutation } from './mutation.ts';

function planted(name: string, where: string, find: string, replace: string): Mutation {
  return { name: `${name} (chart)`, edits: [{ where, find, replace }], caughtBy: [{ file: 'test/unit/chart.test.ts' }] };
}

export const CHART_MUTATIONS: readonly Mutation[] = [
  planted(
    'secrets may stand in the ConfigMap',
    'plain in chart.ts',
    "if (is === 'a secret' || node['secret'] === true) return SECRET;",
    "if (node['secret'] === true) return SECRET;",
  ),
  planted('the chart leaves the store to the configuration', 'SET_BY_CHART', "'listen', 'ops', 'store'", "'listen', 'ops'"),
];
