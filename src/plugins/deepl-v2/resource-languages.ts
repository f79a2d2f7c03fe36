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

interface Resource {
  readonly features: readonly Feature[];
  readonly languages: (languages: Languages) => readonly Listed[];
  readonly isOffered: (offer: ResourceOffer) => boolean;
}

const ABSENT: Resource = { features: [], languages: () => [], isOffered: () => false };
const TEXTS: Resource = { features: FEATURES, languages: textLanguages, isOffered: () => true };

const RESOURCES: ReadonlyMap<unknown, Resource> = new Map([
  ['translate_text', TEXTS],
  ['translate_document', { ...TEXTS, features: FEATURES.filter((one) => one.isOfDocuments), isOffered: (offer) => offer.hasDocuments }],
  ['glossary', { features: [], languages: glossaryLanguages, isOffered: ({ can }) => can.glossaries }],
  ['voice', ABSENT],
  ['write', ABSENT],
  ['style_rules', ABSENT],
  ['translation_memory', ABSENT],
]);
const NAMES = [...RESOURCES.keys()];

const INCLUDED = ['beta', 'external'];

interface Asked {
  readonly resource: Resource;
}

const WRONG_RESOURCE = refuse('validation_error', `Value for 'resource' not supported: it is one of ${NAMES.join(', ')}, given once.`);
const WRONG_INCLUDE = refuse('validation_error', `Value for 'include' not supported: it is one of ${INCLUDED.join(', ')}.`);

const PARAMETERS: readonly ParameterEntry<Asked, undefined>[] = [
  {
    name: 'resource',
    does: 'served',
    means: 'resource',
    about: `Of what: one of ${NAMES.map((one) => `\`${String(one)}\``).join(', ')}. The list is empty for a resource that this service does not have.`,
    example: 'translate_text',
    missing: () => WRONG_RESOURCE,
    read(value): Judged<Resource> {
      const valid = RESOURCES.get(value);
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

export function resourceLanguages(api: FacadeApi, host: PluginHost, passesStyle: boolean): readonly ApiPart[] {
  const offerFor = (x: Exchange, services: GatewayServices): ResourceOffer => ({
    languages: services.languages(x),
    can: services.engineCanFor(x),
    passesStyle,
    hasDocuments: services.documents !== undefined,
  });
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
  return [ofResource, resources];
}

function resourceIn(query: string): Judged<Resource> | Refusal {
  const given = new URLSearchParams(query);
  const asked: Asked = { resource: TEXTS };
  const values = {
    get(name: string): unknown {
      const [first, ...more] = given.getAll(name);
      return more.length === 0 ? first : [first, ...more];
    },
  };
  return readAll(PARAMETERS, values, asked, undefined) ?? { valid: asked.resource };
}

function resourcesOf(offer: ResourceOffer): Outcome {
  const offered = [...RESOURCES].filter(([, one]) => one.isOffered(offer));
  return answer(offered.map(([name, one]) => ({ name, features: featuresOf(one, offer).map((it) => ({ name: it.name, ...it.needs })) })));
}

function listOf(resource: Resource, offer: ResourceOffer): Outcome {
  if (!resource.isOffered(offer)) return answer([]);
  const features = featuresOf(resource, offer);
  return answer(resource.languages(offer.languages).map((one) => shown(one, offer.languages, features)));
}

function featuresOf({ features }: Resource, offer: ResourceOffer): readonly Feature[] {
  return features.filter((one) => one.isOffered(offer));
}

function shown({ code, isSource, isTarget, isFormal }: Listed, languages: Languages, features: readonly Feature[]) {
  const own = features.filter(
    ({ name, needs }) =>
      ((needs.needs_source_support === true && isSource) || (needs.needs_target_support === true && isTarget)) &&
      (name !== 'formality' || isFormal),
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
