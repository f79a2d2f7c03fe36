// GET /v3/languages: for each resource of DeepL's API the languages and what can be done with them; and GET /v3/languages/resources.
import Type from 'typebox';
import { baseCode, refuse } from 'lingate';
import type { EngineCapabilities, Exchange, GatewayServices, Languages, Outcome, PluginHost, Refusal } from 'lingate';
import { answer } from '../facades/api.ts';
import type { ApiPart } from '../facades/api.ts';
import { operation, plainOperation } from '../facades/facade-operation.ts';
import type { FacadeApi } from '../facades/facade-operation.ts';
import type { Judged } from '../facades/members.ts';
import { readAll } from '../facades/parameters.ts';
import type { ParameterEntry } from '../facades/parameters.ts';
import { answered, boolean, string } from '../facades/reference.ts';
import { languagePairs } from './glossary-answer.ts';

const RESOURCES = ['translate_text', 'translate_document', 'glossary', 'voice', 'write', 'style_rules', 'translation_memory'] as const;
type Resource = (typeof RESOURCES)[number];

const INCLUDED = ['beta', 'external'];

interface Asked {
  readonly resource: Resource;
}

const WRONG_RESOURCE = refuse('validation_error', `Value for 'resource' not supported: it is one of ${RESOURCES.join(', ')}, given once.`);
const WRONG_INCLUDE = refuse('validation_error', `Value for 'include' not supported: it is one of ${INCLUDED.join(', ')}.`);

const PARAMETERS: readonly ParameterEntry<Asked, undefined>[] = [
  {
    name: 'resource',
    does: 'served',
    means: 'resource',
    about: `Of what: one of ${RESOURCES.map((one) => `\`${one}\``).join(', ')}. The list is empty for a resource that this service does not have.`,
    example: 'translate_text',
    missing: () => WRONG_RESOURCE,
    read(value): Judged<Resource> {
      const valid = RESOURCES.find((one) => one === value);
      return valid === undefined ? WRONG_RESOURCE : { valid };
    },
  },
  {
    name: 'include',
    does: 'nothing',
    about: '`beta` or `external`, also repeated; has no effect, because all languages are stable.',
    example: 'beta',
    faultOf: (value) => ([value].flat().every((one) => INCLUDED.includes(one as string)) ? undefined : WRONG_INCLUDE),
  },
];

/** All that there is here is stable. */
const STABLE = { status: 'stable' } as const;

interface Feature {
  readonly name: string;
  readonly needs_source_support?: true;
  readonly needs_target_support?: true;
}
const OF_BOTH = { needs_source_support: true, needs_target_support: true } as const;

/** What a service can do, of DeepL's features of text translation. */
function featuresOf({ formats, formality, glossaries, styles, detection }: EngineCapabilities, passesStyle: boolean): readonly Feature[] {
  const features: Feature[] = [];
  if (formality) features.push({ name: 'formality', needs_target_support: true });
  if (formats.some((format) => format !== 'text')) features.push({ name: 'tag_handling', ...OF_BOTH });
  if (glossaries) features.push({ name: 'glossary', ...OF_BOTH });
  if (styles && passesStyle) {
    features.push({ name: 'style_rules', needs_target_support: true }, { name: 'translation_memory', ...OF_BOTH });
  }
  if (detection) features.push({ name: 'auto_detection', needs_source_support: true });
  return features;
}

interface ResourceOffer {
  readonly languages: Languages;
  readonly features: readonly Feature[];
  readonly can: EngineCapabilities;
  /** Whether there are documents. */
  readonly hasDocuments: boolean;
}

/** Of the features of texts, those of documents. */
const OF_DOCUMENTS: readonly string[] = ['formality', 'glossary', 'auto_detection'];

function ofDocuments(features: readonly Feature[]): readonly Feature[] {
  return features.filter(({ name }) => OF_DOCUMENTS.includes(name));
}

/** A language of a resource, before it is shown. */
interface Listed {
  readonly code: string;
  readonly isSource: boolean;
  readonly isTarget: boolean;
  readonly isFormal: boolean;
}

const Features = Type.Record(Type.String(), Type.Object({ status: string('Always `stable`.') }), {
  description: 'What can be done with it, by name.',
});

export function resourceLanguages(api: FacadeApi, host: PluginHost, passesStyle: boolean): ApiPart {
  const offerFor = (x: Exchange, services: GatewayServices): ResourceOffer => {
    const can = services.engineCanFor(x);
    const hasDocuments = services.documents !== undefined;
    return { languages: services.languages(x), features: featuresOf(can, passesStyle), can, hasDocuments };
  };
  const ofResource = operation<Resource, Resource>(api, host, {
    name: 'resource-languages',
    tag: 'Languages',
    scope: 'languages:read',
    at: [
      {
        method: 'GET',
        path: '/v3/languages',
        summary: 'List the languages of a resource',
        description: 'The source and target languages of a resource in one list, with what can be done with each.',
      },
    ],
    parameters: PARAMETERS,
    problems: ['validation_error'],
    answer: answered(
      'The list, by code.',
      Type.Array(
        Type.Object({
          lang: string('The code: `de`, `en-US`, `zh-Hant`. Other routes take it in any case.'),
          name: string('The name in English.'),
          usable_as_source: boolean('Whether texts can be in it.'),
          usable_as_target: boolean('Whether texts can be translated into it.'),
          status: string('Always `stable`.'),
          features: Features,
        }),
      ),
      [{ lang: 'de', name: 'German', usable_as_source: true, usable_as_target: true, ...STABLE, features: { formality: STABLE } }],
    ),
    headers: [],
    read: ({ head }) => resourceIn(head.query),
    order: (valid) => ({ valid }),
    charge: () => undefined,
    run: (resource, x, services) => listOf(resource, offerFor(x, services)),
  });
  const resources = plainOperation(api, {
    name: 'resources',
    tag: 'Languages',
    scope: 'languages:read',
    at: [
      {
        method: 'GET',
        path: '/v3/languages/resources',
        summary: 'List the resources',
        description: 'The resources for which there are languages, with their features.',
      },
    ],
    parameters: [],
    answer: answered(
      'The list.',
      Type.Array(
        Type.Object({
          name: string('The `resource` of `GET /v3/languages`.'),
          features: Type.Array(
            Type.Object({
              name: string('The key in `features` of a language.'),
              needs_source_support: Type.Optional(boolean('It works only for a source language that has it.')),
              needs_target_support: Type.Optional(boolean('It works only for a target language that has it.')),
            }),
            { description: 'All features.' },
          ),
        }),
      ),
      [{ name: 'translate_text', features: [{ name: 'formality', needs_target_support: true }] }],
    ),
    run: (x, services) => resourcesOf(offerFor(x, services)),
  });
  return {
    routes: [...ofResource.routes, ...resources.routes],
    steps: (services) => [...ofResource.steps(services), ...resources.steps(services)],
  };
}

function resourceIn(query: string): Judged<Resource> | Refusal {
  const given = new URLSearchParams(query);
  const asked: Asked = { resource: 'translate_text' };
  const values = {
    get(name: string): unknown {
      const [first, ...more] = given.getAll(name);
      return more.length === 0 ? first : [first, ...more];
    },
  };
  return readAll(PARAMETERS, values, asked, undefined) ?? { valid: asked.resource };
}

function resourcesOf({ features, can, hasDocuments }: ResourceOffer): Outcome {
  return answer([
    { name: 'translate_text', features },
    ...(hasDocuments ? [{ name: 'translate_document', features: ofDocuments(features) }] : []),
    ...(can.glossaries ? [{ name: 'glossary', features: [] }] : []),
  ]);
}

function listOf(resource: Resource, { languages, features, can, hasDocuments }: ResourceOffer): Outcome {
  switch (resource) {
    case 'translate_text':
      return answer(textLanguages(languages).map((one) => shown(one, languages, features)));
    case 'glossary':
      return answer((can.glossaries ? glossaryLanguages(languages) : []).map((one) => shown(one, languages, [])));
    case 'translate_document':
      return answer((hasDocuments ? textLanguages(languages) : []).map((one) => shown(one, languages, ofDocuments(features))));
    case 'voice':
    case 'write':
    case 'style_rules':
    case 'translation_memory':
      return answer([]);
  }
}

function shown({ code, isSource, isTarget, isFormal }: Listed, languages: Languages, features: readonly Feature[]) {
  const own = features.filter(
    ({ name, needs_source_support: ofSource, needs_target_support: ofTarget }) =>
      ((ofSource === true && isSource) || (ofTarget === true && isTarget)) && (name !== 'formality' || isFormal),
  );
  return {
    lang: codeOf(code),
    name: languages.nameOf(code) ?? code,
    usable_as_source: isSource,
    usable_as_target: isTarget,
    ...STABLE,
    features: Object.fromEntries(own.map(({ name }) => [name, STABLE])),
  };
}

function textLanguages({ sources, targets }: Languages): readonly Listed[] {
  const formal = new Map(targets.map(({ code, formality }) => [code, formality]));
  return listed(
    sources.map(({ code }) => code),
    targets.map(({ code }) => code),
    (code) => formal.get(code) === true,
  );
}

/** Languages of glossaries are base codes. */
function glossaryLanguages(languages: Languages): readonly Listed[] {
  const pairs = languagePairs(languages);
  return listed(
    pairs.map(({ sourceLang }) => sourceLang),
    pairs.map(({ targetLang }) => baseCode(targetLang)),
    () => false,
  );
}

function listed(sources: readonly string[], targets: readonly string[], isFormal: (code: string) => boolean): readonly Listed[] {
  const [from, into] = [new Set(sources), new Set(targets)];
  return [...new Set([...sources, ...targets])]
    .toSorted()
    .map((code) => ({ code, isSource: from.has(code), isTarget: into.has(code), isFormal: isFormal(code) }));
}

const SCRIPT_LETTERS = 4;

/** In BCP 47's case: `de`, `en-US`, `zh-Hant`, `es-419`. */
function codeOf(code: string): string {
  const [base = '', more] = code.toLowerCase().split('-');
  if (more === undefined) return base;
  const cased = more.length === SCRIPT_LETTERS && /^[a-z]/.test(more) ? `${more[0]!.toUpperCase()}${more.slice(1)}` : more.toUpperCase();
  return `${base}-${cased}`;
}
