// The languages: GET /v2/languages, the sources or the targets, with `type` in the query, or, as
// some SDKs send it, in a form or JSON body; and GET /v3/languages, those of a resource of DeepL's
// API and what can be done with each, with GET /v3/languages/resources.
import Type from 'typebox';
import { baseCode, refuse } from 'lingate';
import type { EngineCapabilities, Exchange, GatewayServices, Languages, Outcome, PluginHost } from 'lingate';
import { answer } from '../facades/api.ts';
import type { ApiPart } from '../facades/api.ts';
import { operation, plainOperation } from '../facades/facade-operation.ts';
import type { FacadeApi } from '../facades/facade-operation.ts';
import { standardCode } from '../facades/language-names.ts';
import { chosen, withQuery } from '../facades/members.ts';
import type { Members } from '../facades/members.ts';
import { readAll } from '../facades/parameters.ts';
import type { ParameterEntry } from '../facades/parameters.ts';
import { answered, boolean, shown, string } from '../facades/reference.ts';
import { membersOf } from './deepl-request.ts';
import { languagePairs } from './glossary-answer.ts';

type ListType = 'source' | 'target';

const WRONG_TYPE = refuse('validation_error', "Value for 'type' not supported: it is source or target.");

export function languages(api: FacadeApi, host: PluginHost): ApiPart {
  return operation<Members, ListType>(api, host, {
    name: 'languages',
    tag: 'Languages',
    scope: 'languages:read',
    // Some SDKs send a body.
    at: 'GET /v2/languages',
    takesBody: true,
    summary: 'List languages',
    description: 'Lists the source or target languages.',
    parameters: [
      {
        name: 'type',
        does: 'served',
        about: '`source` (the default) or `target`. It may also be in a form or JSON body.',
        example: 'target',
      },
    ],
    answer: shown(
      'The list.',
      {
        language: 'The code.',
        name: 'The name in English.',
        supports_formality: Type.Optional(boolean('Whether `formality` has an effect. Targets only.')),
      },
      [{ language: 'DE', name: 'German', supports_formality: true }],
    ),
    read: membersOf,
    order(members, _offer, { head }) {
      const given = new URLSearchParams(head.query).getAll('type');
      const type = given.length === 0 ? (chosen(members, 'type') ?? 'source') : given.length === 1 ? given[0] : undefined;
      return type === 'source' || type === 'target' ? { valid: type } : WRONG_TYPE;
    },
    charge: () => undefined,
    run(type, x, services) {
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

interface Asked {
  readonly resource: string;
}

const PARAMETERS: readonly ParameterEntry<Asked, undefined>[] = [
  {
    name: 'resource',
    does: 'served',
    means: 'resource',
    about: `Of what: one of ${RESOURCES.map((one) => `\`${one}\``).join(', ')}. The list is empty for a resource that this service does not have.`,
    example: 'translate_text',
    missing: () => WRONG_RESOURCE,
    read: (value) => (RESOURCES.includes(value as string) ? { valid: value as string } : WRONG_RESOURCE),
  },
  {
    name: 'include',
    does: 'nothing',
    about: '`beta` or `external`, also repeated; has no effect, because all languages are stable.',
    example: 'beta',
    faultOf: (value) => ([value].flat().every((one) => INCLUDED.includes(one as string)) ? undefined : WRONG_INCLUDE),
  },
];

export function resourceLanguages(api: FacadeApi, host: PluginHost, passesStyle: boolean): readonly ApiPart[] {
  const offerFor = (x: Exchange, services: GatewayServices): ResourceOffer => ({
    languages: services.languages(x),
    can: services.engineCanFor(x),
    passesStyle,
    hasDocuments: services.documents !== undefined,
  });
  const ofResource = operation<string, string>(api, host, {
    name: 'resource-languages',
    tag: 'Languages',
    scope: 'languages:read',
    at: 'GET /v3/languages',
    summary: 'List the languages of a resource',
    description: 'The source and target languages of a resource in one list, with what can be done with each.',
    parameters: PARAMETERS,
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
    read({ head }) {
      const asked: Asked = { resource: '' };
      const given = withQuery(new Map(), head.query, []);
      return 'problem' in given ? given : (readAll(PARAMETERS, given.valid, asked, undefined) ?? { valid: asked.resource });
    },
    order: (valid) => ({ valid }),
    charge: () => undefined,
    run: (resource, x, services) => listOf(resource, offerFor(x, services)),
  });
  const resources = plainOperation(api, {
    name: 'resources',
    tag: 'Languages',
    scope: 'languages:read',
    at: 'GET /v3/languages/resources',
    summary: 'List the resources',
    description: 'The resources for which there are languages, with their features.',
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
    run(x, services) {
      const offer = offerFor(x, services);
      const offered = Object.entries(OFFERED).map(([name, featuresIn]) => ({ name, features: featuresIn(offer) }));
      const shownOf = (features: readonly Feature[]) => features.map((one) => ({ name: one.name, ...one.needs }));
      return answer(offered.flatMap(({ name, features }) => (features === undefined ? [] : { name, features: shownOf(features) })));
    },
  });
  return [ofResource, resources];
}

function listOf(resource: string, offer: ResourceOffer): Outcome {
  const features = OFFERED[resource]?.(offer);
  if (features === undefined) return answer([]);
  const { from, into, formal } = resource === 'glossary' ? glossaryLanguages(offer.languages) : textLanguages(offer.languages);
  const listed = [...new Set([...from, ...into])].toSorted().map((code) => {
    const [isSource, isTarget] = [from.has(code), into.has(code)];
    const own = features.filter(
      ({ name, needs }) =>
        ((needs.needs_source_support === true && isSource) || (needs.needs_target_support === true && isTarget)) &&
        (name !== 'formality' || formal.has(code)),
    );
    return {
      // In BCP 47's case: `de`, `en-US`, `zh-Hant`, `es-419`.
      lang: code === 'ZH' ? 'zh' : standardCode(code),
      name: offer.languages.nameOf(code) ?? code,
      usable_as_source: isSource,
      usable_as_target: isTarget,
      ...STABLE,
      features: Object.fromEntries(own.map(({ name }) => [name, STABLE])),
    };
  });
  return answer(listed);
}

interface ResourceCodes {
  readonly from: ReadonlySet<string>;
  readonly into: ReadonlySet<string>;
  /** Targets with formality. */
  readonly formal: ReadonlySet<string>;
}

function textLanguages({ sources, targets }: Languages): ResourceCodes {
  const formal = targets.filter(({ formality }) => formality);
  const codes = (list: readonly { readonly code: string }[]): ReadonlySet<string> => new Set(list.map(({ code }) => code));
  return { from: codes(sources), into: codes(targets), formal: codes(formal) };
}

/** Languages of glossaries are base codes. */
function glossaryLanguages(all: Languages): ResourceCodes {
  const pairs = languagePairs(all);
  const into = new Set(pairs.map(({ targetLang }) => baseCode(targetLang)));
  return { from: new Set(pairs.map(({ sourceLang }) => sourceLang)), into, formal: new Set() };
}
