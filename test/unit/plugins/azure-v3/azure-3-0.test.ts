// The query of Azure's POST /translate: what its parameters mean, and which error number each mistake gets.
import { Languages, refusedCharge, refuse } from 'lingate';
import type { Charge, Refusal } from 'lingate';
import { describe, expect, test } from 'vitest';
import type { EngineCapabilities } from '../../../../src/domain/engine-offer.ts';
import { ABLE } from '../../../support/offers.ts';
import type { AzureInput, AzureTarget } from '../../../../src/plugins/azure-v3/azure-parameters.ts';
import { PROBLEM_FORM } from '../../../../src/plugins/azure-v3/azure-api.ts';
import { readTranslation } from '../../../../src/plugins/azure-v3/azure-operations.ts';
import type { CallerOffer } from '../../../../src/plugins/facades/api.ts';
import type { Judged } from '../../../../src/plugins/facades/members.ts';
import { exampleOf } from '../../../../src/docs/openapi-schemas.ts';

const TEXTS = [{ Text: 'Hello' }, { Text: '' }];
const language = (code: string) => ({ code, name: code, formality: false });
const CAN: EngineCapabilities = { ...ABLE, formats: ['text'] };
const RULES: CallerOffer = {
  languages: new Languages({
    sources: ['DE', 'EN', 'PT', 'ZH'].map(language),
    targets: ['DE', 'EN-GB', 'FR', 'PT-BR', 'PT-PT', 'ZH'].map(language),
  }),
  variants: { EN: 'EN-GB', PT: 'PT-BR' },
  canFor: () => ({ ...CAN, formats: ['text', 'html'] }),
};

interface Order {
  readonly characters: number;
  readonly inputs: readonly AzureInput[];
}

function judge(query: string, rules = RULES): Judged<Order> | Charge {
  const read = readTranslation(query, { valid: TEXTS });
  if (!('valid' in read)) return read;
  const { characters } = read.valid;
  const inputs = read.valid.judge(rules);
  return 'problem' in inputs ? refusedCharge(inputs, characters) : { valid: { characters, inputs: inputs.valid } };
}
/** The targets, which are the same for all texts. */
function targetsOf(judged: Judged<Order> | Charge): readonly AzureTarget[] {
  if (!('valid' in judged)) throw new Error(refusalIn(judged)!.problem.detail);
  const [first, second] = judged.valid.inputs;
  expect(second!.into).toBe(first!.into);
  return first!.into;
}
const V = 'api-version=3.0';
const refusalIn = (judged: Refusal | Charge): Refusal | undefined => ('problem' in judged ? judged : judged.refusal);
/** The error number of a refusal; `undefined` if there is none. */
function numberOf(judged: Judged<Order> | Charge, query = ''): number | undefined {
  if ('valid' in judged) return undefined;
  const { problem }: Refusal = refusalIn(judged)!;
  const { error } = JSON.parse(PROBLEM_FORM.body(problem, exampleOf(problem.code, problem.kind, ''), query)) as { error: { code: number } };
  expect(PROBLEM_FORM.status(problem)).toBe(Math.floor(error.code / 1000));
  return error.code;
}

describe('is accepted:', () => {
  test.each([
    ['to=de', undefined, ['de']],
    ['to=DE&from=EN-us', 'EN', ['de']],
    ['from=zh-Hant&to=en', 'ZH', ['en']],
    ['from=&to=pt&to=PT-pt&to=pt-br', undefined, ['pt', 'pt-PT', 'pt-BR']],
    ['to=zh-Hans&to=ZH', undefined, ['zh-Hans', 'zh-Hans']],
    ['TO=fr&FROM=de&To=de', 'DE', ['fr', 'de']],
    ['to=de,fr&from=Auto', undefined, ['de', 'fr']],
    ['to=de%2cfr&to=zh-cn&to=pt,fr', undefined, ['de', 'fr', 'zh-Hans', 'pt', 'fr']],
    ['to=de-DE,fr-CA,en-AU&from=zh-cht', 'ZH', ['de', 'fr', 'en']],
    ['to=zh-chs&from=en-AU', 'EN', ['zh-Hans']],
  ])('%s', (query, sourceLang, codes) => {
    const judged = judge(`${V}&${query}`);
    const targets = targetsOf(judged);
    expect(targets.map(({ to, options }) => [to, options.sourceLang])).toEqual(codes.map((code) => [code, sourceLang]));
    // The characters count once for each target.
    expect(judged).toMatchObject({ valid: { characters: 5 * codes.length } });
  });

  test('codes without a variant, which stand for the default one', () => {
    const judged = judge(`${V}&to=en&to=pt&to=pt-pt&to=zh-hans`);
    expect(targetsOf(judged).map(({ options }) => options.targetLang)).toEqual(['EN-GB', 'PT-BR', 'PT-PT', 'ZH']);
  });

  test.each([
    ['', 'text'],
    ['textType=', 'text'],
    ['textType=Plain', 'text'],
    ['texttype=HTML', 'html'],
    ['category=General&allowFallback=False&profanityMarker=tag&profanityAction=noAction&includeAlignment=FALSE', 'text'],
    ['includeSentenceLength=false&suggestedFrom=en-GB&fromScript=&toScript=&ClientTraceId=x&whatever=1&whatever=2', 'text'],
  ])('%s', (query, format) => {
    expect(targetsOf(judge(`${V}&to=de&${query}`)).map(({ options }) => options.format)).toEqual([format]);
  });
});

describe('is refused:', () => {
  test.each([
    ['', 400_021],
    ['to=de', 400_021],
    ['api-version=2025-10-01-preview&to=de', 400_021],
    [`${V}&${V}&to=de`, 400_021],
    [V, 400_036],
    [`${V}&to=`, 400_036],
    [`${V}&to=xx`, 400_036],
    [`${V}&to=de,`, 400_036],
    [`${V}&to=de,zh-cht`, 400_036],
    [`${V}&to=de-Latn`, 400_036],
    [`${V}&to=zh-Hant`, 400_036],
    [`${V}&to=de&to=zh-tw`, 400_036],
    [`${V}${'&to=de'.repeat(51)}`, 400_036],
    [`${V}&to=${'de,'.repeat(50)}de`, 400_036],
    [`${V}&to=${'de,'.repeat(24)}de&to=${'de,'.repeat(25)}de`, 400_036],
    [`${V}&to=${','.repeat(5000)}`, 400_036],
    [`${V}&to=de&from=xx`, 400_035],
    [`${V}&to=de&from=en&from=en`, 400_035],
    [`${V}&to=de&textType=xml`, 400_071],
    [`${V}&to=de&category=mine`, 400_002],
    [`${V}&to=de&category=general&category=mine`, 400_002],
    [`${V}&to=de&suggestedFrom=xx`, 400_003],
    [`${V}&to=de&fromScript=Latn`, 400_080],
    [`${V}&to=de&toScript=Latn`, 400_080],
    [`${V}&to=de&profanityAction=Marked`, 400_000],
    [`${V}&to=de&profanityAction=Deleted`, 400_000],
    [`${V}&to=de&profanityAction=1`, 400_000],
    [`${V}&to=de&profanityMarker=1`, 400_000],
    [`${V}&to=de&allowFallback=1`, 400_000],
    [`${V}&to=de&includeAlignment=true`, 400_000],
    [`${V}&to=de&includeAlignment=true&includeAlignment=false`, 400_000],
    [`${V}&to=de&includeSentenceLength=true`, 400_000],
  ])('%s', (query, number) => {
    const judged = judge(query);
    expect(numberOf(judged)).toBe(number);
    // The parameter is named; its value is not quoted.
    const name = [...new URLSearchParams(query).keys()].at(-1) ?? 'api-version';
    if (number !== 400_021) expect(JSON.stringify(judged)).toContain(name === 'api-version' ? 'to: ' : name);
    expect(JSON.stringify(judged)).not.toMatch(/mine|2025|xx|zh-Hant/);
  });

  test('a fault of the texts before one of the parameters, with the characters, so that the plan’s limit is checked too', () => {
    const wrong = refuse('validation_error', 'texts');
    expect(readTranslation(V, wrong)).toBe(wrong);
    expect(judge(`${V}&to=de&to=xx`)).toMatchObject({ refusal: {}, characters: 10 });
    expect(judge(`${V}&to=de,xx&to=fr`)).toMatchObject({ refusal: {}, characters: 15 });
    expect(judge(V)).toMatchObject({ refusal: {}, characters: 5 });
  });

  test('a pair that is not offered, with a list of those that are, in Azure’s codes; and html if the engine does not support it', () => {
    const languages = new Languages(RULES.languages.all, (source, target) => source === 'EN' && target !== 'FR');
    const pair = judge(`${V}&to=de&to=fr&from=en`, { ...RULES, languages });
    expect(pair).toMatchObject({
      refusal: { problem: { detail: 'to: fr is not offered for texts in en; offered: de, en-GB, pt-BR, pt-PT, zh-Hans.' } },
    });
    expect(numberOf(pair)).toBe(400_023);
    const html = judge(`${V}&to=de&textType=html`, { ...RULES, canFor: () => CAN });
    expect(numberOf(html)).toBe(400_071);
  });
});

test('traditional Chinese is a target if the list has it', () => {
  const { all } = RULES.languages;
  const languages = new Languages({ ...all, targets: [...all.targets, language('ZH-HANT')] });
  const targets = targetsOf(judge(`${V}&to=zh-hant&to=zh-hans`, { ...RULES, languages }));
  expect(targets.map(({ to, options }) => [to, options.targetLang])).toEqual([
    ['zh-Hant', 'ZH-HANT'],
    ['zh-Hans', 'ZH'],
  ]);
});
