// Work that only needs a detected language: adapters of engines with detection use that, the others translate a short text.
import { afterEach, describe, expect, test } from 'vitest';
import { builtInProtocols } from '../../../../src/engines/protocols/built-in.ts';
import type { EngineResult } from '../../../../src/ports/engine.ts';
import { answer, startScriptedEngine } from '../../../../src/testing/scripted-engine.ts';
import { asked, Caller, Opened, work } from '../engine-work.ts';
import { SUBJECTS } from './subjects.ts';

interface Detecting {
  readonly protocol: string;
  readonly path: string;
  readonly body: string;
  readonly tells: string;
  readonly cannotTell: string;
  readonly wrong: string;
}

const DETECTING: readonly Detecting[] = [
  {
    protocol: 'libretranslate',
    path: '/detect',
    body: '{"q":"Bonjour","api_key":"a-secret-of-the-operator"}',
    tells: '[{"confidence":90,"language":"fr"},{"confidence":1,"language":"en"}]',
    cannotTell: '[]',
    wrong: '[{"confidence":90}]',
  },
  {
    protocol: 'mtranserver',
    path: '/detect',
    body: '{"text":"Bonjour"}',
    tells: '{"language":"fr"}',
    cannotTell: '{"language":"und"}',
    wrong: '[]',
  },
  {
    protocol: 'apertium',
    path: '/identifyLang',
    body: 'q=Bonjour',
    tells: '{"fra":0.9,"eng":0.1}',
    cannotTell: '{"xyz":1}',
    wrong: '{"fra":"0.9"}',
  },
];

const opened = new Opened();
afterEach(() => opened.close());

async function detect(protocol: string, answered: string, batched = false) {
  const subject = SUBJECTS[protocol]!;
  const scripted = opened.add(await startScriptedEngine());
  scripted.always(answer(answered));
  const batch = batched ? { batch: { textsMax: 50, charactersMax: 1000, waitMs: 5 } } : {};
  const engine = opened.engine([scripted.url], { protocol: subject.protocol, options: subject.options, timeoutMs: 20_000, ...batch });
  const result: EngineResult = await asked(engine, { ...work({ text: ['Bonjour'] }), detectionOnly: true }, new Caller());
  return { result, requests: scripted.requests };
}

describe.each(DETECTING)('$protocol', ({ protocol, path, body, tells, cannotTell, wrong }) => {
  test.each([false, true])('is asked for the language and nothing else (calls shared with others: %s)', async (batched) => {
    const { result, requests } = await detect(protocol, tells, batched);
    expect(requests.map((request) => [request.path, request.body])).toEqual([[path, body]]);
    expect(result).toMatchObject({ kind: 'usable', translations: [{ text: 'Bonjour', detectedSourceLanguage: 'FR' }] });
  });

  test('may be unable to tell, which is not a failure', async () => {
    const { result } = await detect(protocol, cannotTell);
    expect(result).toMatchObject({ kind: 'usable', translations: [{ detectedSourceLanguage: undefined }], failures: [] });
  });

  test('is tried again if its answer makes no sense', async () => {
    const { result, requests } = await detect(protocol, wrong);
    expect(result).toMatchObject({ kind: 'unavailable', failures: ['wrong_shape', 'wrong_shape'] });
    expect(requests).toHaveLength(2);
  });
});

test('every other protocol that detects languages reports them with a translation', async () => {
  const others = [...builtInProtocols].filter(
    ([name, { can }]) => can?.detection !== false && !DETECTING.some(({ protocol }) => protocol === name),
  );
  expect(others.map(([name]) => name)).toEqual(['native', 'deepl']);
  for (const [name] of others) {
    const { result } = await detect(name, '{"translations":[{"detected_source_language":"FR","text":"Hallo"}]}');
    expect(result).toMatchObject({ kind: 'usable', translations: [{ detectedSourceLanguage: 'FR' }] });
  }
});
