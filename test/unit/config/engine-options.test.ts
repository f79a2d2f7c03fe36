// The configuration of an engine is checked against what its protocol declares: options, secrets, batches and pairs.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConfigError } from '../../../src/config/config-error.ts';
import { engineSettings } from '../../../src/config/engine-options.ts';
import type { EngineSettings } from '../../../src/config/engine-options.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { secret } from '../../../src/domain/option-schema.ts';
import { isFieldName } from '../../../src/engines/http1/request.ts';
import type { EngineProtocol } from '../../../src/ports/engine.ts';

const SECRET = 'sk-nobody-sees-this';

const attempt = (): Promise<never> => Promise.reject(new Error('not called'));
const protocols = new Map<string, EngineProtocol>([
  ['plain', { attempt }],
  ['reporting', { attempt, pairs: () => Promise.resolve('status') }],
  ['single', { attempt, can: { textsMax: 1 } }],
  [
    'model',
    {
      attempt,
      can: { sharedCalls: false },
      options: Type.Object({
        model: Type.String({ minLength: 1 }),
        api_key: Type.Optional(secret('The key.')),
        pages: Type.Integer({ minimum: 1, maximum: 9, default: 3 }),
        codes: Type.Optional(Type.Record(Type.String(), Type.String())),
      }),
    },
  ],
]);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lingate-options-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function settings(engine: unknown, env: Readonly<Record<string, string>> = {}): EngineSettings {
  const file = join(folder, 'lingate.yaml');
  writeFileSync(file, JSON.stringify({ engine }));
  return engineSettings(loadConfig({ file, env: {} }), { protocols, env, isFieldName })[0]!;
}

function faults(engine: unknown, env: Readonly<Record<string, string>> = {}): readonly string[] {
  try {
    settings(engine, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.lines.map((line) => line.replace(`${folder}/lingate.yaml: `, ''));
    throw error;
  }
  throw new Error('not refused');
}

describe('options', () => {
  test('are read by the protocol’s schema, with defaults; headers are separate', () => {
    const options = { model: 'm', headers: { 'X-Token': 'abc' } };
    expect(settings({ protocol: 'model', options })).toMatchObject({
      options: { model: 'm', pages: 3 },
      headers: { 'X-Token': 'abc' },
      given: ['model', 'headers'],
      secrets: ['engine.options.headers.X-Token'],
    });
    expect(settings({ protocol: 'plain' })).toMatchObject({ options: {}, headers: {}, given: [], secrets: [] });
  });

  test.each([
    [{ protocol: 'mode' }, ['engine.protocol: there is no "mode"; did you mean model? the protocols are plain, reporting, single, model']],
    [{ protocol: 'model' }, ['engine.options.model: is missing; it must be a string']],
    [{ protocol: 'model', options: { model: 'm', page: 1 } }, ['engine.options.page: is not known; did you mean pages?']],
    [{ protocol: 'model', options: { model: 'm', pages: 10 } }, ['engine.options.pages: 10 is too large; it must be at most 9']],
    [{ protocol: 'model', options: { model: 'm', codes: { PT: 1 } } }, ['engine.options.codes.PT: 1 is not a string']],
    [{ protocol: 'plain', options: { api_key: 'x' } }, ['engine.options.api_key: is not known; the known ones are headers']],
    [{ protocol: 'plain', options: { headers: 'x' } }, ['engine.options.headers: "x" is not a mapping of names to values']],
    [{ protocol: 'plain', options: { headers: { Host: 'x' } } }, ['engine.options.headers: "Host" is not a header that can be added']],
    [{ protocol: 'plain', options: { headers: { 'a b': 'x' } } }, ['engine.options.headers: "a b" is not a header that can be added']],
    [
      { protocol: 'single', batch: {} },
      ['engine.batch: does not work with the protocol single, which takes one text per call; leave it out'],
    ],
    [
      { protocol: 'model', options: { model: 'm' }, batch: {} },
      ['engine.batch: does not work with the protocol model, whose calls callers must not share; leave it out'],
    ],
  ])('%j is refused', (engine, lines) => {
    expect(faults(engine)).toEqual(lines);
  });

  test.each([
    ['a flag', {}, { engineProtocol: 'soap' }, true],
    ['a variable', { LINGATE_ENGINE_PROTOCOL: 'soap' }, {}, false],
    ['the file', {}, {}, false],
  ])('an unknown protocol is wrong usage only if it comes from a flag: %s', (_where, env, flags, flagsOnly) => {
    const file = join(folder, 'soap.yaml');
    writeFileSync(file, JSON.stringify({ engine: { protocol: 'soap' } }));
    const refused = () => engineSettings(loadConfig({ file, env, flags }), { protocols, env, isFieldName });
    expect(refused).toThrow(expect.objectContaining({ lines: [expect.stringContaining('there is no "soap"')], flagsOnly }));
  });

  test('every fault is reported at once', () => {
    const options = { pages: 0, api_key: { env: 'NO_SUCH' }, headers: { te: 'x' } };
    expect(faults({ protocol: 'model', options, batch: {} })).toHaveLength(5);
  });
});

describe('secrets', () => {
  test('are a string, a variable, or a file beside the configuration without its last line break', () => {
    writeFileSync(join(folder, 'key'), `${SECRET}\n`);
    writeFileSync(join(folder, 'key-crlf'), `${SECRET}\r\n`);
    const ways = [SECRET, { env: 'KEY' }, { file: 'key' }, { file: './key-crlf' }, { file: join(folder, 'key') }];
    for (const api_key of ways) {
      expect(settings({ protocol: 'model', options: { model: 'm', api_key } }, { KEY: SECRET })).toMatchObject({
        options: { api_key: SECRET },
        secrets: ['engine.options.api_key'],
      });
    }
  });

  test.each([
    [{ env: 'GONE' }, 'the environment variable GONE is not set'],
    [{ env: 'EMPTY' }, 'is empty'],
    [{ file: 'gone' }, 'cannot be read: there is no such file'],
    [{ file: 'lines' }, 'is not one line of printable ASCII'],
    [{ file: 'empty' }, 'is empty'],
    ['', 'is empty'],
    [`${SECRET}\u00e9`, 'is not one line of printable ASCII'],
    ['x'.repeat(8193), 'is longer than 8192 characters'],
    [{ env: 'A', file: 'b' }, 'is not a secret; it must be a string, { env: NAME } or { file: PATH }'],
    [{ value: SECRET }, 'is not a secret; it must be a string, { env: NAME } or { file: PATH }'],
    [{ env: '' }, 'is not a secret'],
    [12345, 'is not a secret'],
    [null, 'is not a secret'],
    [[SECRET], 'is not a secret'],
  ])('%j gives one clear line that names the option and shows no secret', (api_key, reason) => {
    writeFileSync(join(folder, 'lines'), `${SECRET}\n${SECRET}\n\n`);
    writeFileSync(join(folder, 'empty'), '\n');
    const lines = faults({ protocol: 'model', options: { model: 'm', api_key } }, { EMPTY: '' });
    expect(lines).toEqual([expect.stringContaining(reason)]);
    expect(lines[0]).toMatch(/^engine\.options\.api_key: /);
    expect(lines[0]).not.toContain(SECRET);
    expect(lines[0]).not.toContain('12345');
  });
});

describe('pairs', () => {
  test('are by default asked for if the protocol’s engines can report them, and any otherwise', () => {
    expect([settings({ protocol: 'plain' }).pairs, settings({ protocol: 'reporting' }).pairs]).toEqual(['any', 'ask']);
    expect([settings({ protocol: 'reporting', pairs: 'any' }).pairs, settings({ protocol: 'reporting', pairs: 'ask' }).pairs]).toEqual([
      'any',
      'ask',
    ]);
    expect(settings({ protocol: 'plain', pairs: ['EN-ES'] }).pairs).toEqual(['EN-ES']);
  });

  test('cannot be asked for from an engine that does not report them', () => {
    expect(faults({ protocol: 'plain', pairs: 'ask' })).toEqual([
      'engine.pairs: "ask" does not work with the protocol plain, whose engines cannot report pairs; write any or a list of pairs',
    ]);
  });
});
