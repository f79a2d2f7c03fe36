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

interface Words {
  readonly status: number;
  readonly what: (at: RefusedAt) => Html;
  readonly advice: Html;
}

const AGAIN = html`Begin again.`;
const ASK_OPERATOR = html`The gateway’s log has the details; tell whoever runs it.`;
const TOKEN_WORKS = html`Try again in a minute. Signing in with a token works meanwhile.`;

/** A token that is wrong is told at its field. */
const WORDS: Readonly<Record<Exclude<SignInRefusal, 'wrong_token'>, Words>> = {
  wrong_state: {
    status: 400,
    what: () => html`This does not belong to a sign-in that was begun in this browser within the last ten minutes.`,
    advice: AGAIN,
  },
  used_before: { status: 400, what: () => html`This sign-in has been used before.`, advice: AGAIN },
  declined: { status: 403, what: ({ provider }) => html`The sign-in was cancelled, or ${provider} has refused it.`, advice: AGAIN },
  wrong_issuer: { status: 400, what: ({ provider }) => html`The answer did not come from ${provider}.`, advice: ASK_OPERATOR },
  wrong_code: {
    status: 400,
    what: ({ provider }) => html`${provider} did not accept its own code: it was used before, or is too old.`,
    advice: AGAIN,
  },
  wrong_client: {
    status: 503,
    what: ({ provider }) => html`${provider} did not accept this gateway: its client_id or client_secret is wrong.`,
    advice: ASK_OPERATOR,
  },
  wrong_id_token: {
    status: 400,
    what: ({ provider }) => html`The proof that ${provider} has sent did not pass the checks.`,
    advice: ASK_OPERATOR,
  },
  provider_error: { status: 503, what: ({ provider }) => html`${provider} has answered with an error.`, advice: ASK_OPERATOR },
  provider_away: { status: 503, what: ({ provider }) => html`${provider} does not answer.`, advice: TOKEN_WORKS },
  no_claim: {
    status: 403,
    what: ({ provider }) => html`${provider} did not say in which groups you are.`,
    advice: ASK_OPERATOR,
  },
  no_group: {
    status: 403,
    what: ({ provider, name }) => html`${provider} knows you as <strong>${name}</strong>, but none of your groups may use this console.`,
    advice: html`Ask whoever runs this gateway to give one of your groups a role.`,
  },
  store_away: { status: 503, what: () => html`The gateway’s store does not answer.`, advice: TOKEN_WORKS },
};

export function refusedSignIn(refused: keyof typeof WORDS, at: RefusedAt): ConsoleAnswer {
  const { status, what, advice } = WORDS[refused];
  return refusalPage(status, html`${what(at)} ${advice}`, refused, at);
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
