// The languages: GET /v2/languages, the sources or the targets, with `type` in the query, or, as
// some SDKs send it, in a form or JSON body; and GET /v3/languages, those of a resource of DeepL's
// API and what can be done with each, with GET /v3/languages/resources.
import Type from 'typebox';
import { refuse } from 'lingate';
import type { EngineCapabilities, Exchange, GatewayServices, Languages, Outcome, PluginHost } from 'lingate';
import { standardCode } from '../facades/codes.ts';
import { withQuery } from '../facades/members.ts';
import type { Members } from '../facades/members.ts';
import { answer, operation, plainOperation } from '../facades/operation.ts';
import type { ApiPart, FacadeApi } from '../facades/operation.ts';
import { isRefusal, readAll } from '../facades/parameters.ts';
import type { ParameterEntry } from '../facades/parameters.ts';
import { boolean, shown, string } from '../facades/reference.ts';
import { membersOf } from './deepl-request.ts';
import { languagePairs } from './glossary-model.ts';

interface ListOrder {
  readonly type: 'source' | 'target';
}

const WRONG_TYPE = refuse('validation_error', "Value for 'type' not supported: it is source or target.");

const LIST_PARAMETERS: readonly ParameterEntry<ListOrder, unknown>[] = [
  {
    name: 'type',
    means: 'type',
    about: '`source` (the default) or `target`. It may also be in a form or JSON body.',
    example: 'target',
    mayBeEmpty: true,
    read: (value) => (value === 'source' || value === 'target' ? value : value === '' ? 'source' : WRONG_TYPE),
  },
];

export function languages(api: FacadeApi, host: PluginHost): ApiPart {
  return operation<Members, ListOrder>(api, host, {
    name: 'languages',
    tag: 'Languages',
    scope: 'languages:read',
    // Some SDKs send a body.
    at: 'GET /v2/languages',
    takesBody: true,
    summary: 'List languages',
    description: 'Lists the source or target languages.',
    parameters: LIST_PARAMETERS,
    answer: shown(
      'The list.',
      {
        language: 'The code.',
        name: 'The name in English.',
        supports_formality: Type.Optional(boolean('Whether `formality` has an effect. Targets only.')),
      },
      [{ language: 'DE', name: 'German', supports_formality: true }],
    ),
    read(x, services) {
      const inBody = membersOf(x, services);
      const inQuery = new URLSearchParams(x.head.query).getAll('type');
      if (isRefusal(inBody) || inQuery.length === 0) return inBody;
      // It counts before the body, and an empty one is none of the two.
      const type = inQuery.join();
      return type === '' ? WRONG_TYPE : new Map([['type', type]]);
    },
    nothing: { type: 'source' },
    judge: (order, members) => readAll(LIST_PARAMETERS, members, order, undefined),
    run({ type }, x, services) {
      const { sources, targets } = services.languages(x);
      if (type === 'source') return answer(sources.map(({ code, name }) => ({ language: code, name })));
      return answer(targets.map(({ code, name, formality }) => ({ language: code, name, supports_formality: formality })));
    },
  });
}

/** All that there is here is stable. */
const STABLE = { status: 'stable' } as const;

interface ResourceOffer {
  readonly languages: Languages;
  readonly can: EngineCapabilities;
  readonly passesStyle: boolean;
  readonly hasDocuments: boolean;
}

interface Feature {
  readonly name: string;
  /** Which language of a translation must have it. */
  readonly needs: { readonly needs_source_support?: true; readonly needs_target_support?: true };
  readonly isOfDocuments: boolean;
  readonly isOffered: (offer: ResourceOffer) => boolean;
}

const SOURCE = { needs_source_support: true } as const;
const TARGET = { needs_target_support: true } as const;
const BOTH = { ...SOURCE, ...TARGET };
const isStyled = ({ can, passesStyle }: ResourceOffer): boolean => can.styles && passesStyle;

/** DeepL's features of text translation. */
const FEATURES: readonly Feature[] = [
  { name: 'formality', needs: TARGET, isOfDocuments: true, isOffered: ({ can }) => can.formality },
  { name: 'tag_handling', needs: BOTH, isOfDocuments: false, isOffered: ({ can }) => can.formats.some((one) => one !== 'text') },
  { name: 'glossary', needs: BOTH, isOfDocuments: true, isOffered: ({ can }) => can.glossaries },
  { name: 'style_rules', needs: TARGET, isOfDocuments: false, isOffered: isStyled },
  { name: 'translation_memory', needs: BOTH, isOfDocuments: false, isOffered: isStyled },
  { name: 'auto_detection', needs: SOURCE, isOfDocuments: true, isOffered: ({ can }) => can.detection },
];

const featuresOf = (offer: ResourceOffer): readonly Feature[] => FEATURES.filter((one) => one.isOffered(offer));

/** The resources that there may be, with the features of each; `undefined` if it is not offered. */
const OFFERED: Readonly<Record<string, (offer: ResourceOffer) => readonly Feature[] | undefined>> = {
  translate_text: featuresOf,
  translate_document: (offer) => (offer.hasDocuments ? featuresOf(offer).filter((one) => one.isOfDocuments) : undefined),
  glossary: ({ can }) => (can.glossaries ? [] : undefined),
};
const RESOURCES = [...Object.keys(OFFERED), 'voice', 'write', 'style_rules', 'translation_memory'];
const INCLUDED = ['beta', 'external'];

const WRONG_RESOURCE = refuse('validation_error', `Value for 'resource' not supported: it is one of ${RESOURCES.join(', ')}, given once.`);
const WRONG_INCLUDE = refuse('validation_error', `Value for 'include' not supported: it is one of ${INCLUDED.join(', ')}.`);

interface ResourceOrder {
  readonly resource: string;
}

const RESOURCE_PARAMETERS: readonly ParameterEntry<ResourceOrder, unknown>[] = [
  {
    name: 'resource',
    means: 'resource',
    about: `Of what: one of ${RESOURCES.map((one) => `\`${one}\``).join(', ')}. The list is empty for a resource that this service does not have.`,
    example: 'translate_text',
    missing: () => WRONG_RESOURCE,
    read: (value) => RESOURCES.find((one) => one === value) ?? WRONG_RESOURCE,
  },
  {
    name: 'include',
    does: 'nothing',
    about: '`beta` or `external`, also repeated; has no effect, because all languages are stable.',
    example: 'beta',
    judge: (value) => ([value].flat().every((one) => INCLUDED.includes(one as string)) ? undefined : WRONG_INCLUDE),
  },
];

export function resourceLanguages(api: FacadeApi, host: PluginHost, passesStyle: boolean): readonly ApiPart[] {
  const offerFor = (x: Exchange, services: GatewayServices): ResourceOffer => ({
    languages: services.languages(x),
    can: services.engineCanFor(x),
    passesStyle,
    hasDocuments: services.documents !== undefined,
  });
  const ofResource = operation<Members, ResourceOrder>(api, host, {
    name: 'resource-languages',
    tag: 'Languages',
    scope: 'languages:read',
    at: 'GET /v3/languages',
    summary: 'List the languages of a resource',
    description: 'The source and target languages of a resource in one list, with what can be done with each.',
    parameters: RESOURCE_PARAMETERS,
    problems: ['validation_error'],
    answer: shown(
      'The list, by code.',
      {
        lang: 'The code: `de`, `en-US`, `zh-Hant`. Other routes take it in any case.',
        name: 'The name in English.',
        usable_as_source: 'Whether texts can be in it.',
        usable_as_target: 'Whether texts can be translated into it.',
        status: 'Always `stable`.',
        features: Type.Record(Type.String(), Type.Object({ status: string('Always `stable`.') }), {
          description: 'What can be done with it, by name.',
        }),
      },
      [{ lang: 'de', name: 'German', usable_as_source: true, usable_as_target: true, ...STABLE, features: { formality: STABLE } }],
    ),
    headers: [],
    read: ({ head }) => withQuery(new Map(), head.query, []),
    nothing: { resource: '' },
    judge: (order, members) => readAll(RESOURCE_PARAMETERS, members, order, undefined),
    run: ({ resource }, x, services) => listOf(resource, offerFor(x, services)),
  });
  const resources = plainOperation(api, {
    name: 'resources',
    tag: 'Languages',
    scope: 'languages:read',
    at: 'GET /v3/languages/resources',
    summary: 'List the resources',
    description: 'The resources for which there are languages, with their features.',
    answer: shown(
      'The list.',
      {
        name: 'The `resource` of `GET /v3/languages`; of a feature, the key in `features` of a language.',
        features: 'All features.',
        needs_source_support: 'It works only for a source language that has it.',
        needs_target_support: 'It works only for a target language that has it.',
      },
      [
        {
          name: 'translate_text',
          features: [
            { name: 'formality', needs_target_support: true },
            { name: 'auto_detection', needs_source_support: true },
          ],
        },
      ],
    ),
    run(x, services) {
      const offer = offerFor(x, services);
      const offered = Object.entries(OFFERED).map(([name, featuresIn]) => ({
        name,
        features: featuresIn(offer)?.map((one) => ({ name: one.name, ...one.needs })),
      }));
      return answer(offered.filter(({ features }) => features !== undefined));
    },
  });
  return [ofResource, resources];
}

function listOf(resource: string, offer: ResourceOffer): Outcome {
  const features = OFFERED[resource]?.(offer);
  if (features === undefined) return answer([]);
  const { languages: all } = offer;
  // Languages of glossaries are base codes.
  const pairs = resource === 'glossary' ? languagePairs(all) : undefined;
  const from = new Set(pairs?.map(({ sourceLang }) => sourceLang) ?? all.sources.map(({ code }) => code));
  const into = new Set(pairs?.map(({ targetLang }) => targetLang) ?? all.targets.map(({ code }) => code));
  const listed = [...new Set([...from, ...into])].toSorted().map((code) => {
    const [isSource, isTarget] = [from.has(code), into.has(code)];
    const own = features.filter(
      ({ name, needs }) =>
        ((needs.needs_source_support === true && isSource) || (needs.needs_target_support === true && isTarget)) &&
        (name !== 'formality' || all.supportsFormality(code)),
    );
    return {
      // In BCP 47's case: `de`, `en-US`, `zh-Hant`, `es-419`.
      lang: code === 'ZH' ? 'zh' : standardCode(code),
      name: all.nameOf(code) ?? code,
      usable_as_source: isSource,
      usable_as_target: isTarget,
      ...STABLE,
      features: Object.fromEntries(own.map(({ name }) => [name, STABLE])),
    };
  });
  return answer(listed);
}
