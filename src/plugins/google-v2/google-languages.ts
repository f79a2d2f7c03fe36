// GET /language/translate/v2/languages: sources and targets in one list.
import Type from 'typebox';
import { refuse } from 'lingate';
import type { Languages, Outcome, PluginHost, RouteDoc } from 'lingate';
import { answer, route } from '../facades/api.ts';
import type { ApiPart } from '../facades/api.ts';
import type { DefaultVariants } from '../facades/default-variants.ts';
import { chosen } from '../facades/members.ts';
import { answered, optional, parameter, string } from '../facades/reference.ts';
import { sourceCode, targetCode, theirCode } from './google-codes.ts';
import { AUTHENTICATED, modelFault, readParameters, unknownOf } from './google-request.ts';

const DOC: RouteDoc = {
  summary: 'List languages',
  description: 'The source and target languages. As a source, a variant such as `pt-BR` is treated as its base code.',
  authenticated: true,
  tag: 'Languages',
  query: [
    parameter('target', 'en', 'A code of the list: the answer then has names, always in English.'),
    parameter('model', 'nmt', '`nmt` or `base`; has no effect.'),
  ],
  answer: answered(
    'The list.',
    Type.Object({
      data: Type.Object({ languages: Type.Array(Type.Object({ language: string('The code.'), name: optional('With `target`.') })) }),
    }),
    { data: { languages: [{ language: 'de', name: 'German' }] } },
  ),
};

/** Whether the answer has names. */
type Named = 'named' | 'bare';

export function languages(host: PluginHost, variants: DefaultVariants): ApiPart {
  const slot = host.reserveSlot<Named>('names of languages');
  return {
    routes: [
      route('GET', '/language/translate/v2/languages', [...AUTHENTICATED, 'google-read-languages', 'admit', 'google-languages'], DOC),
    ],
    steps: (services) => [
      readParameters('google-read-languages', services, (x, members) => {
        const fault = unknownOf(members, ['target', 'model']) ?? modelFault(members);
        if (fault !== undefined) return fault;
        const target = chosen(members, 'target');
        const list = services.languages();
        if (target !== undefined && sourceCode(target, list) === undefined && targetCode(target, list, variants) === undefined) {
          return refuse('invalid_target_lang', 'Invalid Value: target must be a code that /languages lists.');
        }
        x.set(slot, target === undefined ? 'bare' : 'named');
        return undefined;
      }),
      { kind: 'body', name: 'google-languages', run: (x) => listOf(services.languages(x), x.need(slot)) },
    ],
  };
}

function listOf({ sources, targets }: Languages, named: Named): Outcome {
  // A language that is both a source and a target has the source's name, which is that of the bare code.
  const names = new Map([...targets, ...sources].map(({ code, name }) => [theirCode(code), name]));
  const list = [...names].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return answer({ data: { languages: list.map(([language, name]) => (named === 'named' ? { language, name } : { language })) } });
}
