// The Helm chart has what it takes from elsewhere as it is there now, and a default for every value.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { CHART_VALUES } from '../../src/chart-values.ts';
import { currentFiles } from '../../src/chart.ts';
import { ConfigFile } from '../../src/config/schema.ts';

const CHART = 'config/helm/lingate/';
const read = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const { version } = JSON.parse(read('package.json')) as { readonly version: string };
const yaml = (name: string): Record<string, unknown> => parse(read(CHART + name)) as Record<string, unknown>;

test('its schema, alerts and dashboard are current: `npm run task -- chart` would change nothing', () => {
  const files = currentFiles();
  expect(Object.keys(files)).toEqual(['values.schema.json', 'files/alerts.yaml', 'files/grafana-dashboard.json']);
  for (const [name, text] of Object.entries(files)) expect(text).toBe(read(CHART + name));
  expect(files['files/alerts.yaml']).toBe(read('config/alerts.yaml'));
  expect(files['files/grafana-dashboard.json']).toBe(read('config/grafana-dashboard.json'));
});

test('it is of the version that it installs', () => {
  expect(yaml('Chart.yaml')).toMatchObject({ version, appVersion: version });
});

test('every value has a default', () => {
  const optional = new Set(['global']);
  const named = [...Object.keys(CHART_VALUES).filter((name) => !optional.has(name)), 'config'];
  expect(Object.keys(yaml('values.yaml')).toSorted()).toEqual(named.toSorted());
});

test('every setting is a value, but those that the chart sets itself', () => {
  const { properties } = (JSON.parse(currentFiles()['values.schema.json']!) as { properties: { config: { properties: object } } })
    .properties.config;
  const { listen: _listen, ops: _ops, store: _store, ...others } = ConfigFile.properties;
  expect(Object.keys(properties)).toEqual(Object.keys(others));
});

test('a template reads only values that there are', () => {
  const names = [
    'configmap',
    'deployment',
    'service',
    'ingress',
    'httproute',
    'horizontalpodautoscaler',
    'poddisruptionbudget',
    'networkpolicy',
  ];
  const files = [...names, 'monitoring', 'serviceaccount', 'trial-redis'].map((name) => `templates/${name}.yaml`);
  const partials = ['_names', '_configuration', '_env'].map((name) => `templates/${name}.tpl`);
  const used = [...files, ...partials, 'templates/NOTES.txt'].flatMap((name) =>
    [...read(CHART + name).matchAll(/\.Values\.(\w+)/g)].map(([, value]) => value!),
  );
  const there = new Set([...Object.keys(CHART_VALUES), 'config']);
  expect([...new Set(used)].filter((name) => !there.has(name))).toEqual([]);
  expect([...there].filter((name) => !used.includes(name))).toEqual(['global']);
});
