// GET /v2/languages: `type` in the query, or, as some SDKs send it, in a form or JSON body.
import Type from 'typebox';
import { json, refuse } from 'lingate';
import type { BodyStep, GatewayServices, Languages, Refusal, RouteDoc, Slot } from 'lingate';
import { chosen } from './deepl-parameters.ts';
import { AUTHENTICATED, readBody } from './read-body.ts';
import type { ApiPart, PartSetup } from '../facades/api-part.ts';
import type { DeepLOptions } from './deepl-options.ts';
import { PROBLEM_FORM } from './deepl-problem-form.ts';

type ListType = 'source' | 'target';

const WRONG_TYPE = refuse('validation_error', "Value for 'type' not supported: it is source or target.");

const DOC: RouteDoc = {
  summary: 'List languages',
  description: 'The languages that texts may be in, or be translated to.',
  authenticated: true,
  tag: 'Languages',
  query: [
    {
      name: 'type',
      description: '`source`, the default, or `target`. It may stand in a form or JSON body, too.',
      schema: Type.String(),
      example: 'target',
    },
  ],
  answer: {
    status: 200,
    description: 'The list.',
    schema: Type.Array(
      Type.Object({
        language: Type.String({ description: 'The code.' }),
        name: Type.String({ description: 'The name in English.' }),
        supports_formality: Type.Optional(Type.Boolean({ description: 'Whether `formality` has an effect. Targets only.' })),
      }),
    ),
    example: [{ language: 'DE', name: 'German', supports_formality: true }],
  },
};

export function languages({ host }: PartSetup<DeepLOptions>): ApiPart {
  const slot = host.reserveSlot<ListType>('type of languages');
  return {
    routes: [
      {
        method: 'GET',
        path: '/v2/languages',
        takesBody: true,
        steps: [...AUTHENTICATED, 'deepl-read-type', 'admit', 'deepl-languages'],
        problemForm: PROBLEM_FORM,
        doc: DOC,
      },
    ],
    steps: (services) => [readType(services, slot), listStep(services, slot)],
  };
}

function readType(services: GatewayServices, slot: Slot<ListType>): BodyStep {
  return readBody('deepl-read-type', services, (x, members): Refusal | undefined => {
    const given = new URLSearchParams(x.head.query).getAll('type');
    const type = given.length === 0 ? (chosen(members, 'type') ?? 'source') : given.length === 1 ? given[0] : undefined;
    if (type !== 'source' && type !== 'target') return WRONG_TYPE;
    x.set(slot, type);
    return undefined;
  });
}

function listStep(services: GatewayServices, slot: Slot<ListType>): BodyStep {
  return { kind: 'body', name: 'deepl-languages', run: (x) => json(listOf(services.languages(x), x.need(slot))) };
}

function listOf(list: Languages, type: ListType): string {
  if (type === 'source') return JSON.stringify(list.sources.map(({ code, name }) => ({ language: code, name })));
  return JSON.stringify(list.targets.map(({ code, name, formality }) => ({ language: code, name, supports_formality: formality })));
}
