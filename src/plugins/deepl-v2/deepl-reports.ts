// GET /v2/languages, with `type` in the query, or, as some SDKs send it, in a form or JSON body; and GET /v2/usage.
import Type from 'typebox';
import { isUnavailable, keyOwnerSlot, refuse, STORE_UNAVAILABLE, UNKNOWN_KEY } from 'lingate';
import type { Languages, Outcome, PluginHost, Usage } from 'lingate';
import { answer } from '../facades/api.ts';
import type { ApiPart } from '../facades/api.ts';
import { operation, plainOperation } from '../facades/facade-operation.ts';
import type { FacadeApi } from '../facades/facade-operation.ts';
import { chosen } from '../facades/members.ts';
import type { Members } from '../facades/members.ts';
import { answered, boolean, string } from '../facades/reference.ts';
import { membersOf } from './deepl-request.ts';

type ListType = 'source' | 'target';

const WRONG_TYPE = refuse('validation_error', "Value for 'type' not supported: it is source or target.");

export function languages(api: FacadeApi, host: PluginHost): ApiPart {
  return operation<Members, ListType>(api, host, {
    name: 'languages',
    tag: 'Languages',
    scope: 'languages:read',
    // Some SDKs send a body.
    at: [
      {
        method: 'GET',
        path: '/v2/languages',
        takesBody: true,
        summary: 'List languages',
        description: 'Lists the source or target languages.',
      },
    ],
    parameters: [
      {
        name: 'type',
        does: 'served',
        about: '`source` (the default) or `target`. It may also be in a form or JSON body.',
        example: 'target',
      },
    ],
    answer: answered(
      'The list.',
      Type.Array(
        Type.Object({
          language: string('The code.'),
          name: string('The name in English.'),
          supports_formality: Type.Optional(boolean('Whether `formality` has an effect. Targets only.')),
        }),
      ),
      [{ language: 'DE', name: 'German', supports_formality: true }],
    ),
    read: membersOf,
    order(members, _offer, { head }) {
      const given = new URLSearchParams(head.query).getAll('type');
      const type = given.length === 0 ? (chosen(members, 'type') ?? 'source') : given.length === 1 ? given[0] : undefined;
      return type === 'source' || type === 'target' ? { valid: type } : WRONG_TYPE;
    },
    charge: () => undefined,
    run: (type, x, services) => listOf(services.languages(x), type),
  });
}

function listOf(list: Languages, type: ListType): Outcome {
  if (type === 'source') return answer(list.sources.map(({ code, name }) => ({ language: code, name })));
  return answer(list.targets.map(({ code, name, formality }) => ({ language: code, name, supports_formality: formality })));
}

/** DeepL's value for an account without a limit. */
const UNLIMITED = 1_000_000_000_000;

const count = (description: string) => Type.Integer({ minimum: 0, description });

export function usage(api: FacadeApi): ApiPart {
  return plainOperation(api, {
    name: 'usage',
    tag: 'Usage',
    scope: 'usage:read',
    at: [
      {
        method: 'GET',
        path: '/v2/usage',
        summary: 'Read the usage',
        description: "The team's usage in the current period, over all of its keys and routes.",
      },
    ],
    parameters: [],
    answer: answered(
      'Settled counts.',
      Type.Object({
        character_count: count('Characters charged in the period, without those that test keys use for nothing.'),
        character_limit: count('Included characters per period; with credit, the characters used plus those that the balance still buys.'),
      }),
      { character_count: 1200, character_limit: 500000 },
    ),
    async run(x, { teams }) {
      const found = await teams.usage(x.need(keyOwnerSlot).teamId);
      if (found === undefined) return UNKNOWN_KEY;
      if (isUnavailable(found)) return STORE_UNAVAILABLE;
      return answer({ character_count: found.characters - found.allowanceUsed, character_limit: limitOf(found) });
    },
  });
}

function limitOf({ team, characters, allowanceUsed }: Usage): number {
  const { limits, balanceMicro } = team;
  if (limits.billing === 'quota') return limits.characterLimit;
  // Minor units per million characters are millionths of one for each.
  return limits.minorPerMillion === 0 ? UNLIMITED : characters - allowanceUsed + Math.floor(balanceMicro / limits.minorPerMillion);
}
