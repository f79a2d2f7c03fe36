// GET /v2/languages: `type` in the query, or, as some SDKs send it, in a form or JSON body.
import Type from 'typebox';
import { refuse } from 'lingate';
import type { Languages, Outcome, PluginHost, RouteDoc } from 'lingate';
import { answer, route } from '../facades/api.ts';
import type { ApiPart } from '../facades/api.ts';
import { chosen } from '../facades/members.ts';
import { answered, parameter, string } from '../facades/reference.ts';
import { AUTHENTICATED, readBody } from './deepl-request.ts';

type ListType = 'source' | 'target';

const WRONG_TYPE = refuse('validation_error', "Value for 'type' not supported: it is source or target.");

const DOC: RouteDoc = {
  summary: 'List languages',
  description: 'Lists the source or target languages.',
  authenticated: true,
  tag: 'Languages',
  query: [parameter('type', 'target', '`source` (the default) or `target`. It may also be in a form or JSON body.')],
  answer: answered(
    'The list.',
    Type.Array(
      Type.Object({
        language: string('The code.'),
        name: string('The name in English.'),
        supports_formality: Type.Optional(Type.Boolean({ description: 'Whether `formality` has an effect. Targets only.' })),
      }),
    ),
    [{ language: 'DE', name: 'German', supports_formality: true }],
  ),
};

export function languages(host: PluginHost): ApiPart {
  const slot = host.reserveSlot<ListType>('type of languages');
  const steps = [...AUTHENTICATED, 'deepl-read-type', 'admit', 'deepl-languages'];
  return {
    routes: [{ ...route('GET', '/v2/languages', steps, DOC), takesBody: true }],
    steps: (services) => [
      readBody('deepl-read-type', services, (x, members) => {
        const given = new URLSearchParams(x.head.query).getAll('type');
        const type = given.length === 0 ? (chosen(members, 'type') ?? 'source') : given.length === 1 ? given[0] : undefined;
        if (type !== 'source' && type !== 'target') return WRONG_TYPE;
        x.set(slot, type);
        return undefined;
      }),
      { kind: 'body', name: 'deepl-languages', run: (x) => listOf(services.languages(x), x.need(slot)) },
    ],
  };
}

function listOf(list: Languages, type: ListType): Outcome {
  if (type === 'source') return answer(list.sources.map(({ code, name }) => ({ language: code, name })));
  return answer(list.targets.map(({ code, name, formality }) => ({ language: code, name, supports_formality: formality })));
}
