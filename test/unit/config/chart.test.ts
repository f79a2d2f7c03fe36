// The Helm chart is of this version, and its schema, its defaults and its templates name the same values.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

const CHART = 'config/helm/lingate/';
const read = (name: string): string => readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8');
const { version } = JSON.parse(read('package.json')) as { readonly version: string };
const yaml = (name: string): Record<string, unknown> => parse(read(CHART + name)) as Record<string, unknown>;
const schema = JSON.parse(read(`${CHART}values.schema.json`)) as { readonly properties: object; readonly required: readonly string[] };

test('it is of the version that it installs', () => {
  expect(yaml('Chart.yaml')).toMatchObject({ version, appVersion: version });
});

test('every value has a default, and must not be taken away', () => {
  const named = Object.keys(schema.properties).filter((name) => name !== 'global');
  expect(Object.keys(yaml('values.yaml')).toSorted()).toEqual(named.toSorted());
  expect(schema.required.toSorted()).toEqual(named.toSorted());
});

test('a template reads only values that there are', () => {
  const kinds = [
    'configmap',
    'deployment',
    'service',
    'ingress',
    'httproute',
    'horizontalpodautoscaler',
    'poddisruptionbudget',
    'networkpolicy',
  ];
  const files = [...kinds, 'monitoring', 'serviceaccount', 'trial-redis'].map((name) => `templates/${name}.yaml`);
  const partials = ['_names', '_configuration', '_env'].map((name) => `templates/${name}.tpl`);
  const used = [...files, ...partials, 'templates/NOTES.txt'].flatMap((name) =>
    [...read(CHART + name).matchAll(/\.Values\.(\w+)/g)].map(([, value]) => value!),
  );
  const there = Object.keys(schema.properties);
  expect([...new Set(used)].filter((name) => !there.includes(name))).toEqual([]);
  expect(there.filter((name) => !used.includes(name))).toEqual(['global']);
});
