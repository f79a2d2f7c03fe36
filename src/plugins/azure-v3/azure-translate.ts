// POST /translate: texts into one or several languages, charged once for each language.
import { chargedCharacters, countCharacters, json, JSON_BODY_HEADERS, refusedCharge, TRANSLATION_PROBLEMS } from 'lingate';
import type { Exchange, GatewayServices, Outcome, PluginHost, RouteDoc, Translation } from 'lingate';
import Type from 'typebox';
import type { TSchema } from 'typebox';
import { chargeFor, engineStep, offerTo, readStep, route } from '../facades/api.ts';
import type { ApiPart } from '../facades/api.ts';
import type { DefaultVariants } from '../facades/default-variants.ts';
import { queryDocs } from '../facades/parameters.ts';
import type { QueryDoc } from '../facades/reference.ts';
import { allOrRefusal } from '../facades/texts.ts';
import { theirCode } from './azure-codes.ts';
import { AUTHENTICATED, readBody } from './azure-request.ts';
import type { AzureInput, AzureTarget, AzureVersion } from './azure-version.ts';
import { apiVersion, AZURE_VERSIONS, readTranslation } from './azure-versions.ts';

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

const DOC: RouteDoc = {
  summary: 'Translate texts',
  description:
    'Translates up to 50 texts, each into up to 50 languages, all or nothing. Their characters are charged once for each language. Other parameters have no effect.',
  authenticated: true,
  tag: 'Translation',
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
};

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
}

export function translate(host: PluginHost, variants: DefaultVariants): ApiPart {
  const slot = host.reserveSlot<AzureOrder>('translation');
  return {
    routes: [route('POST', '/translate', [...AUTHENTICATED, 'azure-read-translation', 'admit', 'azure-translate'], DOC, 'translate:text')],
    steps(services) {
      const read = readStep(
        'azure-read-translation',
        JSON_BODY_HEADERS,
        services,
        ({ head, body }) => readTranslation(head.query, (list) => readBody(head.headers, body, services.bodyBytesMax, list)),
        (x, { version, characters, judge }) => {
          const inputs = judge(offerTo(x, services, variants));
          if ('problem' in inputs) return refusedCharge(inputs, characters);
          x.set(slot, { version, inputs: inputs.sound });
          return chargeFor(characters);
        },
      );
      return [read, engineStep('azure-translate', slot, (x, order) => translated(x, services, order))];
    },
  };
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
