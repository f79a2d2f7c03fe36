// Environment variables of ours that nothing reads are named in one warning, with the likely name; others are ignored.
import { describe, expect, test } from 'vitest';
import { strayVariables, variablesNamedIn } from '../../../src/config/environment.ts';

const stray = (env: Readonly<Record<string, string>>, named: readonly string[] = []): string | undefined =>
  strayVariables(env, new Set(named));

describe('a variable that nothing reads', () => {
  test.each<[name: string, meant: string]>([
    ['LINGATE_STROE', 'LINGATE_STORE'],
    ['LINGATE_store', 'LINGATE_STORE'],
    ['LINGATE_CONFG', 'LINGATE_CONFIG'],
    ['LINGATE_ENGINE_URLS', 'LINGATE_ENGINE_URL'],
    ['LINGATE_ENGIN_PROTOCOL', 'LINGATE_ENGINE_PROTOCOL'],
  ])('%s is named, with the suggestion %s', (name, meant) => {
    expect(stray({ [name]: 'x' })).toContain(`nothing reads ${name} (did you mean ${meant}?); the variables are LINGATE_CONFIG,`);
  });

  test('is named without a suggestion if none is similar, and several give one line', () => {
    expect(stray({ LINGATE_ZEBRA: '1', LINGATE_OPPS: '2' })).toMatch(
      /^nothing reads LINGATE_OPPS \(did you mean LINGATE_OPS\?\), LINGATE_ZEBRA; /,
    );
  });

  test('gets the suggestion of one that the configuration names', () => {
    expect(stray({ LINGATE_DEEPL_KYE: 'x' }, ['LINGATE_DEEPL_KEY'])).toContain('did you mean LINGATE_DEEPL_KEY?');
  });
});

test.each<[what: string, env: Readonly<Record<string, string>>]>([
  [
    'ours',
    { LINGATE_CONFIG: 'a', LINGATE_STORE: 'b', LINGATE_LISTEN: 'c', LINGATE_OPS: 'd', LINGATE_ENGINE_URL: 'e', LINGATE_UWS_BUILD: 'f' },
  ],
  ['those that the configuration names', { LINGATE_MINE: 'x' }],
  ['the admin token, and the key that the README exports', { LINGATE_ADMIN_TOKEN: 'x', LINGATE_KEY: 'y' }],
  ['an empty variable', { LINGATE_STROE: '' }],
  ['variables of others', { LINGATES_STORE: 'x', STORE: 'y', PATH: 'z' }],
  [
    'those that Kubernetes sets for the Service lingate',
    {
      LINGATE_SERVICE_HOST: '10.0.0.1',
      LINGATE_SERVICE_PORT_HTTP: '80',
      LINGATE_PORT: 'tcp://10.0.0.1:80',
      LINGATE_PORT_80_TCP_ADDR: '10.0.0.1',
    },
  ],
  [
    'those that Kubernetes sets for another Service',
    { LINGATE_OPS_SERVICE_HOST: '10.0.0.2', LINGATE_OPS_SERVICE_PORT: '9090', LINGATE_OPS_PORT: 'tcp://10.0.0.2:9090' },
  ],
])('there is no warning for %s', (_what, env) => {
  expect(stray(env, ['LINGATE_MINE'])).toBeUndefined();
});

test('a name that only looks like that of a Service gives a warning', () => {
  expect(stray({ LINGATE_OPS_PORT: '9090' })).toContain('nothing reads LINGATE_OPS_PORT');
});

test('names of variables are found anywhere in a file', () => {
  const file = {
    admin: { token: { env: 'A' } },
    plugins: [{ options: { deep: [{ env: 'B' }] } }],
    engine: { options: { env: 'C', more: 1 } },
  };
  expect([...variablesNamedIn(file)].toSorted()).toEqual(['A', 'B']);
  expect([...variablesNamedIn('text')]).toEqual([]);
});
