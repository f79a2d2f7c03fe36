// Azure's token exchange: POST /sts/v1.0/issueToken answers with a token that stands for the caller's key for ten minutes, and the
// other routes take it as `Authorization: Bearer`.
import { refuse } from 'lingate';
import type { AccessTokens, CallerStep, GatewayServices, HeadStep, PluginHost, Refusal, RouteDoc } from 'lingate';
import Type from 'typebox';
import { route } from '../facades/api.ts';
import type { ApiPart } from '../facades/api.ts';
import { keyStep } from '../facades/keys.ts';

/** The query's parameter with a key, as Azure's documentation and many of its clients write it. */
const PARAMETER = 'Subscription-Key';
const BEARER = /^bearer +(.*)$/i;
const NOT_GOOD = refuse(
  'unauthorized',
  'The access token has expired, or is not one of this service. Get a new one from /sts/v1.0/issueToken with the API key.',
);

const DOC: RouteDoc = {
  summary: 'Exchange the key for a token',
  description:
    'The answer is an access token as plain text. Sent as `Authorization: Bearer <token>` to the other routes of this API, it stands for ' +
    'the key for ten minutes: limits, charges and revocation are those of the key. Counts towards the request rate and costs nothing. ' +
    'Only a key is exchanged, not a token.',
  authenticated: true,
  tag: 'Authentication',
  answer: {
    status: 200,
    description: 'The token.',
    contentType: 'text/plain; charset=utf-8',
    schema: Type.String({ description: 'The token: printable ASCII characters.' }),
    example: `la_token_${'x'.repeat(88)}`,
  },
};

/** The steps that the route shares with others, by name. */
interface TokenSteps {
  /** What comes before the key is looked for. */
  readonly before: readonly string[];
  /** The header with a key alone, in lower case. */
  readonly field: string;
  /** Whether a key in the query is accepted too. */
  readonly inQuery: boolean;
  readonly noKey: Refusal;
}

export function tokenExchange({ before, field, inQuery, noKey }: TokenSteps): ApiPart {
  const steps = [...before, 'azure-issue-key', 'authenticate', 'team-shed', 'admit', 'azure-issue-token'];
  return {
    routes: [route('POST', '/sts/v1.0/issueToken', steps, DOC, 'translate:text')],
    steps: (services) => [
      keyStep({ api: 'azure-issue', field, parameter: inQuery ? PARAMETER : undefined, noKey }, services),
      {
        kind: 'body',
        name: 'azure-issue-token',
        async run(x) {
          const token = await tokensOf(services).issue(x);
          if (typeof token !== 'string') return token;
          return { kind: 'reply', status: 200, contentType: 'text/plain; charset=utf-8', body: token, headers: [] };
        },
      },
    ],
  };
}

/** The steps that identify a caller by a token, or else as `byKey` does: the first in place of `byKey`, the second right after it. */
export function tokenSteps(byKey: HeadStep, host: PluginHost, services: GatewayServices): readonly [HeadStep, CallerStep] {
  const waiting = host.reserveSlot<Promise<Refusal | undefined>>('azure token being opened');
  return [
    {
      ...byKey,
      run(x) {
        const token = tokenIn(x.head.headers['authorization'], tokensOf(services));
        if (token === undefined) return byKey.run(x);
        const identified = tokensOf(services).identify(x, token, NOT_GOOD);
        if (!(identified instanceof Promise)) return identified;
        x.set(waiting, identified);
        return undefined;
      },
    },
    { kind: 'caller', name: 'azure-token', run: (x) => x.get(waiting) },
  ];
}

const known = new WeakMap<GatewayServices, AccessTokens>();

/** The same for all steps of a gateway: they share the secrets. */
function tokensOf(services: GatewayServices): AccessTokens {
  let tokens = known.get(services);
  if (tokens === undefined) known.set(services, (tokens = services.accessTokens('azure-v3')));
  return tokens;
}

function tokenIn(authorization: string | undefined, tokens: AccessTokens): string | undefined {
  const value = authorization === undefined ? undefined : BEARER.exec(authorization)?.[1];
  return value !== undefined && tokens.isToken(value) ? value : undefined;
}
