// GET /v2/usage: how much of the period's characters, or of the credit, is used.
import Type from 'typebox';
import { isUnavailable, STORE_UNAVAILABLE, UNKNOWN_KEY } from 'lingate';
import type { RouteDoc, Usage } from 'lingate';
import { answer, route, teamEndpoint } from '../facades/api.ts';
import type { ApiPart } from '../facades/api.ts';
import { answered } from '../facades/reference.ts';
import { AUTHENTICATED } from './deepl-request.ts';

/** DeepL's value for an account without a limit. */
const UNLIMITED = 1_000_000_000_000;

const count = (description: string) => Type.Integer({ minimum: 0, description });

const DOC: RouteDoc = {
  summary: 'Read the usage',
  description: "The team's usage in the current period, over all of its keys and routes.",
  authenticated: true,
  tag: 'Usage',
  answer: answered(
    'Settled counts.',
    Type.Object({
      character_count: count('Characters charged in the period.'),
      character_limit: count('Included characters per period; with credit, the characters used plus those that the balance still buys.'),
    }),
    { character_count: 1200, character_limit: 500000 },
  ),
};

export function usage(): ApiPart {
  return {
    routes: [route('GET', '/v2/usage', [...AUTHENTICATED, 'admit', 'deepl-usage'], DOC)],
    steps: ({ teams }) => [
      teamEndpoint('deepl-usage', async (_x, teamId) => {
        const found = await teams.usage(teamId);
        if (found === undefined) return UNKNOWN_KEY;
        if (isUnavailable(found)) return STORE_UNAVAILABLE;
        return answer({ character_count: found.characters, character_limit: limitOf(found) });
      }),
    ],
  };
}

function limitOf({ team, characters }: Usage): number {
  const { limits, balanceMicro } = team;
  if (limits.billing === 'quota') return limits.characterLimit;
  // Minor units per million characters are millionths of one for each.
  return limits.minorPerMillion === 0 ? UNLIMITED : characters + Math.floor(balanceMicro / limits.minorPerMillion);
}
