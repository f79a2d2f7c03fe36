// Faults of a languages file are reported under its own name, together with those of the configuration.
import { describe, expect, test } from 'vitest';
import { linesOf, written } from '../../support/written-file.ts';

describe('a wrong languages file', () => {
  const target = '{ code: DE, name: German }';
  const cases: readonly [yaml: string, line: string][] = [
    [
      `sources: [{ code: de, name: German }]\ntargets: [${target}]`,
      'sources.0.code: "de" is not a language code in upper case, for example "DE" or "PT-BR"',
    ],
    [
      `sources: [{ code: DE, name: German }, { code: DE, name: Deutsch }]\ntargets: [${target}]`,
      'sources.1.code: "DE" is listed twice; leave one out',
    ],
    [
      `sources: [{ code: DE, name: German, formality: true }]\ntargets: [${target}]`,
      'sources.0.formality: is not known; the known ones are code, name',
    ],
    [`sources: []\ntargets: [${target}]`, 'sources: has too few entries; it must have at least 1'],
    [`targets: [${target}]`, 'sources: is missing; it must be a list'],
  ];

  test.each(cases)('%s', (yaml, line) => {
    const file = written('languages: codes.yaml');
    const codes = written(yaml, 'codes.yaml', file.slice(0, file.lastIndexOf('/')));
    expect(linesOf(file)).toEqual([`${codes}: ${line}`]);
  });

  test('a missing one is named', () => {
    const file = written('languages: codes.yaml');
    const codes = file.replace('lingate.yaml', 'codes.yaml');
    expect(linesOf(file)).toEqual([`${codes}: cannot be read: there is no such file`]);
  });
});
