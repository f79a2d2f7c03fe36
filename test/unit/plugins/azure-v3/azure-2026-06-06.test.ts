// The body of Azure's newer POST /translate: what its parameters mean, what is refused by which name, and what is charged.
import { Languages, refusedCharge } from 'lingate';
import { describe, expect, test } from 'vitest';
import type { EngineCapabilities } from '../../../../src/domain/engine-capabilities.ts';
import { ABLE } from '../../../support/offers.ts';
import { problemExample } from '../../../../src/docs/problem-examples.ts';
import { PROBLEM_FORM, readTranslation } from '../../../../src/plugins/azure-v3/azure-versions.ts';
import type { CallerOffer } from '../../../../src/plugins/facades/api.ts';

const QUERY = 'api-version=2026-06-06';
const language = (code: string, formality = false) => ({ code, name: code, formality });
const CAN: EngineCapabilities = { ...ABLE, formats: ['text', 'html'] };
const OFFER: CallerOffer = {
  languages: new Languages({
    sources: ['DE', 'EN'].map((code) => language(code)),
    targets: [language('DE', true), language('EN-GB'), language('FR', true), language('PT-BR')],
  }),
  variants: { EN: 'EN-GB', PT: 'PT-BR' },
  canFor: () => CAN,
};
const DE = { language: 'de' };

/** What is charged, and for each text its targets; or the error. */
function read(body: unknown, offer = OFFER): unknown {
  const found = readTranslation(QUERY, () => ({ sound: body }));
  const judged = 'problem' in found ? found : found.sound.judge(offer);
  if ('problem' in judged) {
    const { error } = JSON.parse(PROBLEM_FORM.body(judged.problem, problemExample('validation_error', ''), QUERY)) as { error: object };
    return error;
  }
  return { characters: 'sound' in found && found.sound.characters, inputs: judged.sound };
}
const oneOf = (target: object, input: object = {}): unknown => read({ inputs: [{ text: 'Hello', targets: [target], ...input }] });
const optionsOf = (found: unknown): object => (found as { inputs: { into: { options: object }[] }[] }).inputs[0]!.into[0]!.options;

test('every target of every text is charged once; equal targets of several texts are the same', () => {
  const found = read({
    inputs: [
      { text: 'Hello', language: 'en', targets: [DE, { language: 'fr', tone: 'formal' }] },
      { text: 'you', language: 'EN-us', textType: 'plain', targets: [{ language: 'DE', gender: 'neutral' }, { language: 'fr' }] },
      { text: '', targets: [DE] },
    ],
  }) as { characters: number; inputs: { into: { to: string; options: object }[] }[] };
  expect([found.characters, found.inputs.map(({ into }) => into.map(({ to }) => to))]).toEqual([16, [['de', 'fr'], ['de', 'fr'], ['de']]]);
  const [first, second, third] = found.inputs;
  expect(second!.into[0]).toBe(first!.into[0]);
  expect(second!.into[1]).not.toBe(first!.into[1]);
  expect(third!.into[0]).not.toBe(first!.into[0]);
});

test.each([
  ['formal', 'de', 'prefer_more'],
  ['Informal', 'fr', 'prefer_less'],
  ['neutral', 'de', undefined],
  ['formal', 'en', undefined],
])('tone %s into %s is formality %s', (tone, code, formality) => {
  expect(optionsOf(oneOf({ language: code, tone }))).toMatchObject({ formality });
});

test('reference texts are the context; html is the format; what asks for nothing is accepted', () => {
  const referenceTextPairs = [
    { source: 'cat', target: 'Katze' },
    { source: 'dog', target: 'Hund' },
  ];
  const nothing = {
    deploymentName: 'General',
    allowFallback: true,
    gender: 'neutral',
    adaptiveDatasetId: '',
    script: null,
    profanityAction: 'noaction',
    profanityMarker: 'Tag',
    unknown: 1,
  };
  expect(optionsOf(oneOf({ ...DE, ...nothing, referenceTextPairs }, { textType: 'Html', script: '', language: 'auto' }))).toMatchObject({
    sourceLang: undefined,
    targetLang: 'DE',
    format: 'html',
    context: 'cat = Katze\ndog = Hund',
    formality: undefined,
  });
});

describe('is refused by name:', () => {
  const pair = { source: 'a', target: 'b' };
  test.each<[name: string, target: object, code: number]>([
    ['language', {}, 400_036],
    ['language', { language: 'xx' }, 400_036],
    ['language', { language: ['de'] }, 400_036],
    ['tone', { tone: 'rude' }, 400_000],
    ['tone', { tone: 1 }, 400_000],
    ['deploymentName', { deploymentName: 'gpt-4o' }, 400_000],
    ['allowFallback', { allowFallback: false }, 400_000],
    ['gender', { gender: 'female' }, 400_000],
    ['adaptiveDatasetId', { adaptiveDatasetId: 'a' }, 400_000],
    ['script', { script: 'Latn' }, 400_080],
    ['profanityAction', { profanityAction: 'Marked' }, 400_000],
    ['profanityMarker', { profanityMarker: 'Star' }, 400_000],
    ['referenceTextPairs', { referenceTextPairs: [pair, pair, pair, pair, pair, pair] }, 400_000],
    ['referenceTextPairs', { referenceTextPairs: 'a' }, 400_000],
    ['referenceTextPairs[1]', { referenceTextPairs: [pair, { source: 'a' }] }, 400_000],
    ['referenceTextPairs[0]', { referenceTextPairs: [{ source: 'a', target: '\ud83d' }] }, 400_000],
  ])('%s in %j', (name, target, code) => {
    const given = name === 'language' ? target : { ...DE, ...target };
    const error = oneOf(DE, { targets: [DE, given] }) as { code: string; message: string };
    expect(error.code).toBe(String(code));
    expect(error.message.startsWith(`inputs[0].targets[1].${name}: `)).toBe(true);
  });

  test.each<[named: string, input: object, code: number]>([
    ['inputs[0].text', { text: 1 }, 400_005],
    ['inputs[0].text', { text: null }, 400_005],
    ['inputs[0].text', { text: '\ud83d' }, 400_005],
    ['inputs[0].language', { language: 'xx' }, 400_035],
    ['inputs[0].script', { script: 'Latn' }, 400_080],
    ['inputs[0].textType', { textType: 'xml' }, 400_071],
    ['inputs[0].targets', { targets: [] }, 400_036],
    ['inputs[0].targets', { targets: DE }, 400_036],
    ['inputs[0].targets', { targets: Array.from({ length: 51 }, () => DE) }, 400_036],
    ['inputs[0].targets[0]', { targets: ['de'] }, 400_020],
  ])('%s in %j', (named, input, code) => {
    expect(oneOf(DE, input)).toEqual({ code: String(code), message: expect.stringContaining(`${named}: `) as string });
  });

  test.each([[undefined], [null], [[]], [[{ Text: 'a' }]], [{}], [{ inputs: [] }], [{ inputs: 'a' }]])('a body %j', (body) => {
    expect(read(body)).toMatchObject({ code: '400000', message: expect.stringMatching(/^inputs: /) as string });
  });

  test('an input that is no object, more than 50 inputs, more than 50 different targets', () => {
    expect(read({ inputs: ['a'] })).toMatchObject({ code: '400020' });
    expect(read({ inputs: Array.from({ length: 51 }, () => ({ text: 'a', targets: [DE] })) })).toMatchObject({ code: '400072' });
    const different = (count: number) => ({
      inputs: Array.from({ length: count }, (_, i) => ({
        text: 'a',
        targets: [0, 1].map((at) => ({ ...DE, referenceTextPairs: [{ source: `${i}`, target: `${at}` }] })),
      })),
    });
    expect(read(different(25))).toMatchObject({ characters: 50 });
    expect(read(different(26))).toMatchObject({
      code: '400036',
      message: expect.stringContaining('at most 50 different targets') as string,
    });
  });

  test('a pair or a format that is not offered', () => {
    const languages = new Languages(OFFER.languages.all, (_source, target) => target !== 'FR');
    const body = { inputs: [{ text: 'a', language: 'en', textType: 'Html', targets: [DE, { language: 'fr' }] }] };
    expect(read(body, { ...OFFER, languages })).toEqual({
      code: '400023',
      message: 'inputs[0].targets[1].language: fr is not offered for texts in en; offered: de, en-GB, pt-BR.',
    });
    expect(read(body, { ...OFFER, canFor: () => ({ ...CAN, formats: ['text'] }) })).toMatchObject({ code: '400071' });
  });
});

test('a refusal knows the characters of all texts, so that the plan’s limit is checked too', () => {
  const found = readTranslation(QUERY, () => ({ sound: { inputs: [{ text: 'Hello', targets: [DE, DE] }, { text: 'a' }, 1] } }));
  if (!('sound' in found)) throw new Error('was refused');
  const judged = found.sound.judge(OFFER);
  expect('problem' in judged && refusedCharge(judged, found.sound.characters)).toMatchObject({ characters: 11 });
});
