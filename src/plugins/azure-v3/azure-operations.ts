// The operations of Azure's API. A text is charged once for each of its targets.
import {
  chargedCharacters,
  countCharacters,
  json,
  JSON_BODY_HEADERS,
  keyOfOptions,
  NOTHING_CHOSEN,
  refuse,
  TRANSLATION_PROBLEMS,
} from 'lingate';
import type { Exchange, Outcome, PluginHost, Translation, TranslationOptions } from 'lingate';
import Type from 'typebox';
import type { TSchema } from 'typebox';
import { answer, operation } from '../facades/operation.ts';
import type { ApiPart, FacadeApi } from '../facades/operation.ts';
import type { DescribedOperation } from '../facades/parameter-table.ts';
import { isRefusal, bodySchema, queryDocs } from '../facades/parameters.ts';
import { integer, number, schemaOf, shown, string } from '../facades/reference.ts';
import type { QueryDoc } from '../facades/reference.ts';
import { chargeFor, uncharged, allOrRefusal, inOrder, NO_TEXTS } from '../facades/texts.ts';
import type { Texts } from '../facades/texts.ts';
import { AZURE_2026_06_06 } from './azure-2026-06-06.ts';
import { AZURE_3_0, TEXTS_BODY, textsIn } from './azure-3-0.ts';
import { apiVersion, CODES, queryOf, readBody, VERSIONS, versionOf, wrong } from './azure-api.ts';
import type { AzureVersion, Query, ReadBody } from './azure-api.ts';
import { TARGETS_MAX, wrongTarget } from './azure-parameters.ts';
import type { AzureTarget, AzureTranslation, TranslatedText } from './azure-parameters.ts';

const TRANSLATE: Readonly<Record<AzureVersion, AzureTranslation>> = { '3.0': AZURE_3_0, '2026-06-06': AZURE_2026_06_06 };

/** For the manual's table. */
export const AZURE_OPERATIONS: readonly DescribedOperation[] = VERSIONS.map((version) => ({
  api: `Azure ${version}`,
  parameters: [{ name: 'api-version', about: `\`${version}\`.` }, ...TRANSLATE[version].query, ...TRANSLATE[version].body],
  others: 'without effect',
}));

/** A schema and an example for each version. */
function ofAll(one: (version: AzureTranslation) => { readonly schema: TSchema; readonly value: unknown }) {
  const all = VERSIONS.map((version) => ({ version, ...one(TRANSLATE[version]) }));
  const examples = all.map(({ version, value }) => [version, { summary: `Version ${version}`, value }] as const);
  return { schema: Type.Union(all.map(({ version, schema }) => ({ ...schema, title: version }))), examples: Object.fromEntries(examples) };
}

/** Only of one version; a required one has an example of that version's name. */
function ofVersion(version: string, { required, example, ...rest }: QueryDoc): QueryDoc {
  const description = `${rest.description} Only version ${version}${required === true ? ', where it is required' : ''}.`;
  return required === true
    ? { ...rest, description, examples: { [version]: { summary: `Version ${version}`, value: example } } }
    : { ...rest, description, example };
}

const WORDS = {
  value: 'One entry for each text, in order.',
  detectedLanguage: Type.Object(
    // Engines report a language without a confidence; it is the one from which they translated.
    { language: string('The code.'), score: number('Always 1: engines report no confidence.') },
    { description: 'If no source language was given and the engine reports it.' },
  ),
  translations: 'One for each target, in order.',
  to: 'The code as requested.',
  language: 'The code as requested.',
  text: 'The translation.',
  sourceCharacters: integer('The characters of the text.'),
};
const EXAMPLE: TranslatedText = { detected: undefined, translations: [{ to: 'de', text: 'Hallo', sourceCharacters: 5 }] };

function answerDoc({ answer: answerTo }: AzureTranslation) {
  const [value, detected] = [EXAMPLE, { ...EXAMPLE, detected: 'en' }].map((one) => JSON.parse(JSON.stringify(answerTo([one]))) as unknown);
  return { value, schema: schemaOf([value, detected], WORDS) };
}

interface ReadRequest {
  readonly version: AzureVersion;
  readonly query: Query;
  readonly body: unknown;
}

/** One call of the engine. */
interface TargetCall {
  /** The code in the answer. */
  readonly to: string;
  readonly options: TranslationOptions;
  /** Without empty ones. */
  readonly text: string[];
}

interface AzureOrder {
  version: AzureVersion;
  characters: number;
  /** Each text, with the calls that translate it. */
  inputs: readonly { readonly text: string; readonly calls: readonly TargetCall[] }[];
}

const TOO_MANY_CALLS = wrongTarget(
  `inputs: may have at most ${TARGETS_MAX} different targets; one with other options counts as different.`,
);

/** Equal targets at the same place of several texts are one call. */
function callFor({ target: { to, targetLang }, ...chosen }: AzureTarget, place: number, calls: Map<string, TargetCall>): TargetCall {
  const options = { ...NOTHING_CHOSEN, ...chosen, targetLang };
  const key = `${place} ${to} ${keyOfOptions(options)}`;
  const call = calls.get(key) ?? { to, options, text: [] };
  calls.set(key, call);
  return call;
}

export function translation(api: FacadeApi, host: PluginHost): ApiPart {
  return operation<ReadRequest, AzureOrder>(api, host, {
    name: 'translation',
    tag: 'Translation',
    scope: 'translate:text',
    at: 'POST /translate',
    summary: 'Translate texts',
    description:
      'Translates up to 50 texts, each into up to 50 languages, all or nothing. Their characters are charged once for each language. Other parameters have no effect.',
    query: [
      apiVersion(),
      ...VERSIONS.flatMap((version) => queryDocs(TRANSLATE[version].query).map((parameter) => ofVersion(version, parameter))),
    ],
    body: { description: 'The texts.', ...ofAll(({ body, bodyExample: value }) => ({ schema: bodySchema(body), value })) },
    answer: {
      status: 200,
      description: 'One entry for each text, in order.',
      ...ofAll(answerDoc),
      headers: { 'X-metered-usage': { description: 'The characters that were charged.', example: '5' } },
    },
    problems: TRANSLATION_PROBLEMS,
    headers: JSON_BODY_HEADERS,
    // The version counts first, then the body.
    read(x, services) {
      const query = queryOf(x.head.query);
      const version = versionOf(query);
      if (isRefusal(version)) return version;
      const body = readBody(x, services);
      return isRefusal(body) ? body : { version, query, body: body.value };
    },
    nothing: { version: '3.0', characters: 0, inputs: [] },
    judge(order, { version, query, body }, offer) {
      order.version = version;
      order.characters = TRANSLATE[version].charactersIn(query, body);
      const inputs = TRANSLATE[version].inputsIn(query, body, offer);
      if (isRefusal(inputs)) return inputs;
      const calls = new Map<string, TargetCall>();
      order.inputs = inputs.map(({ text, into }) => ({ text, calls: into.map((one, place) => callFor(one, place, calls)) }));
      for (const { text, calls: of } of order.inputs) if (text !== '') for (const call of of) call.text.push(text);
      return calls.size > TARGETS_MAX ? TOO_MANY_CALLS : undefined;
    },
    charge: ({ characters }) => chargeFor(characters),
    isLengthFirst: true,
    async run(order, x, services) {
      const calls = [...new Set(order.inputs.flatMap((input) => input.calls))].filter(({ text }) => text.length > 0);
      // At the same time and not one after another, because the reservation lasts for two attempts.
      const all = await allOrRefusal(calls.map(({ text, options }) => services.translate(x, { text, options, glossaryId: undefined })));
      if ('problem' in all) return all;
      return answerOf(x, order, new Map(calls.map((call, index) => [call, all[index]!.translations.values()])));
    },
  });
}

/** `found` has for each call its translations, in the order of the texts. */
function answerOf(x: Exchange, { version, inputs }: AzureOrder, found: ReadonlyMap<TargetCall, Iterator<Translation, undefined>>): Outcome {
  const texts = inputs.map(({ text, calls }): TranslatedText => {
    const all = calls.map((call) => (text === '' ? undefined : found.get(call)!.next().value));
    const code = calls[0]?.options.sourceLang === undefined ? all[0]?.detectedSourceLanguage : undefined;
    const sourceCharacters = countCharacters(text);
    return {
      detected: code === undefined ? undefined : CODES.theirs(code),
      translations: calls.map(({ to }, index) => ({ to, text: all[index]?.text ?? '', sourceCharacters })),
    };
  });
  return json(JSON.stringify(TRANSLATE[version].answer(texts)), 200, [['X-metered-usage', String(chargedCharacters(x))]]);
}

const CANNOT = wrong(400_000, 'The engine of this service does not detect languages: name the source of each translation.');
/** Newer versions report the language with each translation. */
const NOT_IN_VERSION = refuse('not_found', 'Only version 3.0 of the API has /detect.');

export function detection(api: FacadeApi, host: PluginHost): ApiPart {
  return operation<ReadBody, { texts: Texts }>(api, host, {
    name: 'detection',
    tag: 'Languages',
    scope: 'translate:text',
    at: 'POST /detect',
    summary: 'Detect languages',
    description: 'Detects the language of each text from its beginning. It counts towards the request rate and costs nothing.',
    query: [apiVersion(['3.0'])],
    body: { description: 'The texts.', schema: bodySchema(TEXTS_BODY), example: [{ Text: 'Bonjour tout le monde' }] },
    answer: shown(
      'One entry for each text, in order.',
      {
        language: 'The code; `und` if the engine cannot detect it.',
        score: '1, or 0 if the engine cannot detect it: engines report no confidence.',
        isTranslationSupported: 'Whether texts in it can be translated.',
        isTransliterationSupported: 'Always false.',
      },
      [{ language: 'fr', score: 1, isTranslationSupported: true, isTransliterationSupported: false }],
    ),
    problems: ['too_many_texts', 'text_too_long', 'engine_unavailable'],
    headers: JSON_BODY_HEADERS,
    read(x, services) {
      const version = versionOf(queryOf(x.head.query));
      return isRefusal(version) ? version : version === '3.0' ? readBody(x, services) : NOT_IN_VERSION;
    },
    nothing: { texts: NO_TEXTS },
    judge(order, { value }, _offer, x, services) {
      const texts = services.engineCanFor(x).detection ? textsIn(value) : CANNOT;
      if (isRefusal(texts)) return texts;
      order.texts = texts;
      return undefined;
    },
    charge: ({ texts }) => uncharged(texts.characters),
    async run({ texts: { entries, text } }, x, services) {
      const found = text.length === 0 ? { kind: 'detected' as const, languages: [] } : await services.detect(x, text);
      if (found.kind !== 'detected') return found;
      const { sources } = services.languages();
      return answer(
        inOrder(entries, found.languages, (code) => ({
          // ISO 639's code for an undetermined language.
          language: code === undefined ? 'und' : CODES.theirs(code),
          score: code === undefined ? 0 : 1,
          isTranslationSupported: sources.some((source) => source.code === code),
          isTransliterationSupported: false,
        })),
      );
    },
  });
}
