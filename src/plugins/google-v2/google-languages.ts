// GET /language/translate/v2/languages: what can be translated, sources and targets in one list.
import Type from 'typebox';
import { json, refuse } from 'lingate';
import type { BodyStep, GatewayServices, Languages, RouteDoc, Slot } from 'lingate';
import type { ApiPart, PartSetup } from '../facades/api-part.ts';
import { AUTHENTICATED, readParameters } from './google-caller.ts';
import { sourceCode, targetCode, theirCode } from './google-codes.ts';
import { PROBLEM_FORM } from './google-errors.ts';
import type { GoogleOptions } from './google-options.ts';
import { chosen, modelFault, unknownOf } from './google-parameters.ts';

const DOC: RouteDoc = {
  summary: 'List languages',
  description:
    'The languages that texts may be in, or be translated into. Variants such as `pt-BR` count as their base when they are sources.',
  authenticated: true,
  tag: 'Languages',
  query: [
    {
      name: 'target',
      description: 'A code of the list: the answer has names, which are in English whatever the code.',
      schema: Type.String(),
      example: 'en',
    },
    { name: 'model', description: '`nmt` or `base`; without effect.', schema: Type.String(), example: 'nmt' },
  ],
  answer: {
    status: 200,
    description: 'The list.',
    schema: Type.Object({
      data: Type.Object({
        languages: Type.Array(
          Type.Object({
            language: Type.String({ description: 'The code.' }),
            name: Type.Optional(Type.String({ description: 'With `target`.' })),
          }),
        ),
      }),
    }),
    example: { data: { languages: [{ language: 'de', name: 'German' }] } },
  },
};

/** Whether the answer has names. */
type Named = 'named' | 'bare';

export function languages({ options, host }: PartSetup<GoogleOptions>): ApiPart {
  const slot = host.reserveSlot<Named>('names of languages');
  return {
    routes: [
      {
        method: 'GET',
        path: '/language/translate/v2/languages',
        takesBody: false,
        steps: [...AUTHENTICATED, 'google-read-languages', 'admit', 'google-languages'],
        problemForm: PROBLEM_FORM,
        doc: DOC,
      },
    ],
    steps: (services) => [readNamed(services, slot, options), listStep(services, slot)],
  };
}

function readNamed(services: GatewayServices, slot: Slot<Named>, { default_variants: variants }: GoogleOptions): BodyStep {
  return readParameters('google-read-languages', services, (x, members) => {
    const fault = unknownOf(members, ['target', 'model']) ?? modelFault(members);
    if (fault !== undefined) return fault;
    const target = chosen(members, 'target');
    const list = services.languages();
    if (target !== undefined && sourceCode(target, list) === undefined && targetCode(target, list, variants) === undefined) {
      return refuse('invalid_target_lang', 'Invalid Value: target must be a code that /languages lists.');
    }
    x.set(slot, target === undefined ? 'bare' : 'named');
    return undefined;
  });
}

function listStep(services: GatewayServices, slot: Slot<Named>): BodyStep {
  return { kind: 'body', name: 'google-languages', run: (x) => json(listOf(services.languages(x), x.need(slot))) };
}

function listOf({ sources, targets }: Languages, named: Named): string {
  // Of a language that is a source and a target the source's name: it is that of the bare code.
  const names = new Map([...targets, ...sources].map(({ code, name }) => [theirCode(code), name]));
  const list = [...names].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const listed = list.map(([language, name]) => (named === 'named' ? { language, name } : { language }));
  return JSON.stringify({ data: { languages: listed } });
}
