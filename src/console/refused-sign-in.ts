// The page that a refused sign-in gets: what happened, in a sentence, and what to do.
import { html } from '../docs/html.ts';
import type { Html } from '../docs/html.ts';
import type { SignInRefusal } from '../domain/sign-in-attempt.ts';
import { CONSOLE_PREFIX } from './console-route.ts';
import type { ConsoleAnswer } from './console-route.ts';

export interface RefusedAt {
  /** The host of the provider. */
  readonly provider: string;
  readonly requestId: string;
  /** Of the person, if the provider has named one. */
  readonly name?: string | undefined;
  readonly cookies?: readonly string[];
}

const AGAIN = 'Begin again.';
const ASK_OPERATOR = 'The gateway’s log has the details; tell whoever runs it.';
const TOKEN_WORKS = 'Try again in a minute. Signing in with a token works meanwhile.';

/** Status, what happened, and what to do. `PROVIDER` and `NAME` stand for those of the sign-in. */
const WORDS = {
  wrong_state: [400, 'This does not belong to a sign-in that was begun in this browser within the last ten minutes.', AGAIN],
  used_before: [400, 'This sign-in has been used before.', AGAIN],
  declined: [403, 'The sign-in was cancelled, or PROVIDER has refused it.', AGAIN],
  wrong_issuer: [400, 'The answer did not come from PROVIDER.', ASK_OPERATOR],
  wrong_code: [400, 'PROVIDER did not accept its own code: it was used before, or is too old.', AGAIN],
  wrong_client: [503, 'PROVIDER did not accept this gateway: its client_id or client_secret is wrong.', ASK_OPERATOR],
  wrong_id_token: [400, 'The proof that PROVIDER has sent did not pass the checks.', ASK_OPERATOR],
  provider_error: [503, 'PROVIDER has answered with an error.', ASK_OPERATOR],
  provider_away: [503, 'PROVIDER does not answer.', TOKEN_WORKS],
  no_claim: [403, 'PROVIDER did not say in which groups you are.', ASK_OPERATOR],
  no_group: [
    403,
    'PROVIDER knows you as NAME, but none of your groups may use this console.',
    'Ask whoever runs this gateway to give one of your groups a role.',
  ],
  store_away: [503, 'The gateway’s store does not answer.', TOKEN_WORKS],
  // A wrong token is reported at its field.
} as const satisfies Readonly<Record<Exclude<SignInRefusal, 'wrong_token'>, readonly [number, string, string]>>;

export function refusedSignIn(refused: keyof typeof WORDS, at: RefusedAt): ConsoleAnswer {
  const [status, what, advice] = WORDS[refused];
  const parts = what.split(/(PROVIDER|NAME)/).map((part) => {
    if (part === 'NAME') return html`<strong>${at.name}</strong>`;
    return part === 'PROVIDER' ? at.provider : part;
  });
  return refusalPage(status, html`${parts.map((part) => html`${part}`)} ${advice}`, refused, at);
}

/** After too many refused ones from an address. */
export function tooManySignIns(at: RefusedAt): ConsoleAnswer {
  const page = refusalPage(429, html`Too many sign-ins from this address were refused; wait a minute.`, 'rate_limited', at);
  return { ...page, headers: [['Retry-After', '60']] };
}

function refusalPage(status: number, words: Html, code: string, { requestId, cookies = [] }: RefusedAt) {
  const main = html`<h1>You are not signed in</h1>
    <p>${words}</p>
    <p><a class="button" href="${CONSOLE_PREFIX}/sign-in">Back to the sign-in</a></p>
    <p class="soft"><code>${code}</code>, request <code>${requestId}</code></p>`;
  return { kind: 'page', status, cookies, content: { title: 'Not signed in', main } } as const;
}
