// The operations of Azure's API that translate and detect. A text is charged once for each of its targets.
import { chargedCharacters, countCharacters, json, JSON_BODY_HEADERS, refuse, refusedCharge, TRANSLATION_PROBLEMS } from 'lingate';
import type { Exchange, GatewayServices, Outcome, PluginHost, Translation } from 'lingate';
import Type from 'typebox';
import type { TSchema } from 'typebox';
import { answer, chargeFor, uncharged } from '../facades/api.ts';
import type { ApiPart } from '../facades/api.ts';
import { operation } from '../facades/facade-operation.ts';
import type { FacadeApi } from '../facades/facade-operation.ts';
import { queryDocs } from '../facades/parameters.ts';
import { shown } from '../facades/reference.ts';
import type { QueryDoc } from '../facades/reference.ts';
import { allOrRefusal, toldOf } from '../facades/texts.ts';
import type { Texts } from '../facades/texts.ts';
import { AZURE_3_0, TextsBody, textsIn } from './azure-3-0.ts';
import { theirCode } from './azure-options.ts';
import { queryOf, readBody, wrong } from './azure-request.ts';
import { SCORE } from './azure-version.ts';
import type { AzureInput, AzureTarget, AzureVersion } from './azure-version.ts';
import { apiVersion, AZURE_VERSIONS, readTranslation, versionOf } from './azure-versions.ts';
import type { VersionedTranslation } from './azure-versions.ts';

const BODIES = AZURE_VERSIONS.map(({ version, translate: { bodySchema, bodyExample } }) => ({
  version,
  schema: bodySchema,
  value: bodyExample,
}));
const ANSWERS = AZURE_VERSIONS.map(({ version, translate: { answerSchema, answerExample } }) => ({
  version,
  schema: answerSchema,
  value: answerExample,
}));

/** A schema and an example for each version. */
function ofAll(all: readonly { readonly version: string; readonly schema: TSchema; readonly value: unknown }[]) {
  const examples = all.map(({ version, value }) => [version, { summary: `Version ${version}`, value }] as const);
  return { schema: Type.Union(all.map(({ version, schema }) => ({ ...schema, title: version }))), examples: Object.fromEntries(examples) };
}

/** A parameter that only one version has; one that is required there has an example of that version's name. */
function ofVersion(version: string, { required, example, ...rest }: QueryDoc): QueryDoc {
  const description = `${rest.description} Only version ${version}${required === true ? ', where it is required' : ''}.`;
  return required === true
    ? { ...rest, description, examples: { [version]: { summary: `Version ${version}`, value: example } } }
    : { ...rest, description, example };
}

interface AzureOrder {
  readonly version: AzureVersion;
  readonly inputs: readonly AzureInput[];
  readonly characters: number;
}

export function translation(api: FacadeApi, host: PluginHost): ApiPart {
  return operation<VersionedTranslation, AzureOrder>(api, host, {
    name: 'translation',
    tag: 'Translation',
    scope: 'translate:text',
    at: [
      {
        method: 'POST',
        path: '/translate',
        summary: 'Translate texts',
        description:
          'Translates up to 50 texts, each into up to 50 languages, all or nothing. Their characters are charged once for each language. Other parameters have no effect.',
      },
    ],
    parameters: [],
    query: [
      apiVersion(),
      ...AZURE_VERSIONS.flatMap(({ version, translate: { query } }) => queryDocs(query).map((parameter) => ofVersion(version, parameter))),
    ],
    body: { description: 'The texts.', ...ofAll(BODIES) },
    answer: {
      status: 200,
      description: 'One entry for each text, in order.',
      ...ofAll(ANSWERS),
      headers: { 'X-metered-usage': { description: 'The characters that were charged.', example: '5' } },
    },
    problems: TRANSLATION_PROBLEMS,
    headers: JSON_BODY_HEADERS,
    read: ({ head, body }, { bodyBytesMax }) => readTranslation(head.query, (list) => readBody(head.headers, body, bodyBytesMax, list)),
    order({ version, characters, judge }, offer) {
      const inputs = judge(offer);
      return 'problem' in inputs ? refusedCharge(inputs, characters) : { valid: { version, characters, inputs: inputs.valid } };
    },
    charge: ({ characters }) => chargeFor(characters),
    run: (order, x, services) => translated(x, services, order),
  });
}

/** One call of the engine for each target, with the texts for it. */
function translated(x: Exchange, services: GatewayServices, order: AzureOrder): Outcome | Promise<Outcome> {
  const works = new Map<AzureTarget, string[]>();
  for (const { text, into } of order.inputs) {
    for (const target of text === '' ? [] : into) {
      const texts = works.get(target);
      if (texts === undefined) works.set(target, [text]);
      else texts.push(text);
    }
  }
  if (works.size === 0) return answerOf(x, order, new Map());
  const calls = Array.from(works, ([{ options }, text]) => services.translate(x, { text, options, glossaryId: undefined }));
  // At the same time and not one after another, because the reservation lasts for two attempts.
  return allOrRefusal(calls).then((all) => {
    if ('problem' in all) return all;
    const found = Array.from(works.keys(), (target, index) => [target, all[index]!.translations.values()] as const);
    return answerOf(x, order, new Map(found));
  });
}

/** `found` has for each target the translations of the texts that are not empty, in their order. */
function answerOf(
  x: Exchange,
  { version, inputs }: AzureOrder,
  found: ReadonlyMap<AzureTarget, Iterator<Translation, undefined>>,
): Outcome {
  const texts = inputs.map(({ text, into }) => {
    const all = into.map((target): Translation | undefined => (text === '' ? undefined : found.get(target)!.next().value));
    const code = into[0]?.options.sourceLang === undefined ? all[0]?.detectedSourceLanguage : undefined;
    return {
      detected: code === undefined ? undefined : theirCode(code),
      translations: into.map(({ to }, index) => ({ to, text: all[index]?.text ?? '', sourceCharacters: countCharacters(text) })),
    };
  });
  return json(JSON.stringify(version.translate.answer(texts)), 200, [['X-metered-usage', String(chargedCharacters(x))]]);
}

const CANNOT = wrong(400_000, 'The engine of this service does not detect languages: name the source of each translation.');
/** Newer versions report the language with each translation. */
const NOT_IN_VERSION = refuse('not_found', 'Only version 3.0 of the API has /detect.');
/** ISO 639's code for an undetermined language. */
const UNDETERMINED = { language: 'und', score: 0, isTranslationSupported: false, isTransliterationSupported: false };

export function detection(api: FacadeApi, host: PluginHost): ApiPart {
  return operation<Texts, Texts>(api, host, {
    name: 'detection',
    tag: 'Languages',
    scope: 'translate:text',
    at: [
      {
        method: 'POST',
        path: '/detect',
        summary: 'Detect languages',
        description: 'Detects the language of each text from its beginning. It counts towards the request rate and costs nothing.',
      },
    ],
    parameters: [],
    query: [apiVersion([AZURE_3_0])],
    body: { description: 'The texts.', schema: TextsBody, example: [{ Text: 'Bonjour tout le monde' }] },
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
    read({ head, body }, { engineCan, bodyBytesMax }) {
      const version = versionOf(queryOf(head.query));
      if ('problem' in version) return version;
      if (version.valid !== AZURE_3_0) return NOT_IN_VERSION;
      return engineCan.detection ? textsIn(readBody(head.headers, body, bodyBytesMax, undefined)) : CANNOT;
    },
    order: (texts, _offer, x, services) => (services.engineCanFor(x).detection ? { valid: texts } : CANNOT),
    charge: ({ characters }) => uncharged(characters),
    async run({ entries, text }, x, services) {
      const found = text.length === 0 ? { kind: 'detected' as const, languages: [] } : await services.detect(x, text);
      if (found.kind !== 'detected') return found;
      const { sources } = services.languages();
      return answer(
        toldOf(entries, found.languages, (language) => {
          if (language === undefined) return UNDETERMINED;
          const isTranslationSupported = sources.some(({ code }) => code === language);
          return { language: theirCode(language), score: SCORE, isTranslationSupported, isTransliterationSupported: false };
        }),
      );
    },
  });
}
