// Refusals shared by several steps, and the header fields that report the rate limit.
import type { Exchange } from '../core/exchange.ts';
import type { HeaderList, Refusal } from '../core/outcome.ts';
import { problemsTo, refuse } from '../core/problem.ts';
import type { LimitOwner } from './key-limits.ts';
import { limitKind, windowSeconds } from './window-limits.ts';
import type { LimitKind, WindowNumber } from './window-limits.ts';
import type { Languages } from './languages.ts';
import { RATE_WINDOW_MS } from './admission.ts';
import { CLOSED, missingScopes } from './scopes.ts';
import { requestStatsSlot } from './slots.ts';
import type { StoreUnavailable } from './store-unavailable.ts';

export const KEY_MISSING = refuse('unauthorized', 'No API key was sent. Send it as "Authorization: Bearer <key>".');

/** A key in a place that other APIs have for it, and in no place of ours. */
export const KEY_MISPLACED = refuse(
  'unauthorized',
  'The API key belongs in "Authorization: Bearer <key>", not in the query, X-API-Key or api-key. In a URL it may have been logged: replace it.',
);
export const KEY_MALFORMED = refuse(
  'unauthorized',
  'The API key is malformed: la_live_ or la_test_ and 40 letters or digits, sent as "Authorization: Bearer <key>".',
);
export const UNKNOWN_KEY = refuse('unauthorized', 'The API key is not known.');
const KEY_REVOKED = refuse('key_revoked', 'The API key has been revoked. Use another key of the team, or ask for a new one.');
const KEY_DISABLED = refuse('key_revoked', 'The API key is disabled. Use another key of the team, or ask for it to be enabled.');
const KEY_EXPIRED = refuse('key_revoked', 'The API key has expired. Use another key of the team, or ask for it to be extended.');
/** As for an unknown key: whoever found a key learns nothing by trying it from elsewhere. */
export const ADDRESS_REFUSED = refuse('unauthorized', 'The API key may not be used from this address.');
/** For a key with scopes on a route that needs another one, or that no scope opens. */
export function scopeMissing(scope: string): Refusal {
  const what = scope === CLOSED ? 'no scope opens this route' : `this route needs ${scope}`;
  return refuse('forbidden', `The API key has scopes, and ${what}. Use another key, or ask for its scopes to be changed.`, {
    missing_scopes: missingScopes(scope),
  });
}
export const TAG_DISABLED = refuse('forbidden', 'Requests with this tag are disabled. Send another tag, or ask for it to be enabled.');
export const STORE_UNAVAILABLE = refuse('service_unavailable', 'A service behind this one is unreachable; try again in a few seconds.');
export const NO_SUCH_GLOSSARY = refuse('validation_error', 'glossary_id: the team has no glossary of this id.');
export const GLOSSARY_MISMATCH = refuse('validation_error', "glossary_id: the glossary's languages are not source_lang and target_lang.");
export const OVERLOADED = refuse('service_unavailable', 'The service is overloaded; nothing was charged. Try again in a few seconds.');

type FailedGlossary =
  | { readonly kind: 'limit_reached' | 'bytes_reached'; readonly maxGlossaries: number }
  | { readonly kind: 'team_unknown' }
  | StoreUnavailable;

/** Why a glossary was not created or changed. */
export function glossaryRefusal(failed: FailedGlossary): Refusal {
  switch (failed.kind) {
    case 'limit_reached': {
      const { maxGlossaries: max } = failed;
      return refuse('glossary_limit_reached', `The plan allows ${max} glossaries; delete one first.`, { max_glossaries: max });
    }
    case 'bytes_reached': {
      const detail = 'The entries of all glossaries of the team have reached their size limit; delete some first.';
      return refuse('glossary_limit_reached', detail, { max_glossaries: failed.maxGlossaries });
    }
    case 'team_unknown':
      // The admission found the team just now; the store has deleted it since, and with it the key.
      return UNKNOWN_KEY;
    case 'unavailable':
      return STORE_UNAVAILABLE;
  }
}

/** What a translation can end in on any API, besides the codes of every authenticated route. */
export const TRANSLATION_PROBLEMS = problemsTo('translation');

export function keyRevoked(reason: 'disabled' | 'expired' | undefined): Refusal {
  if (reason === undefined) return KEY_REVOKED;
  return reason === 'disabled' ? KEY_DISABLED : KEY_EXPIRED;
}

/** For a pair that is not offered: lists the available targets. Codes are canonical. */
export function pairNotOffered(sourceLang: string | undefined, targetLang: string, languages: Languages): Refusal {
  const unnamed = languages.isReached(targetLang) ? ' without source_lang' : '';
  const from = sourceLang === undefined ? unnamed : ` for texts in ${sourceLang}`;
  return refuse('validation_error', `target_lang: ${targetLang} is not offered${from}; ${targetsOffered(sourceLang, languages)}.`);
}

export const NO_GLOSSARIES = refuse('validation_error', 'glossary_id: the engine of this service takes no glossaries; leave it out.');
export const GLOSSARY_NOT_TAKEN = refuse(
  'validation_error',
  'glossary_id: the engine of this service does not take this glossary: its languages, or a term or translation that is too long or has control characters; use another one, or leave it out.',
);
export const ENGINE_UNAVAILABLE = refuse(
  'engine_unavailable',
  'No usable translation was available; nothing was charged. Try again in a few seconds.',
);
export const NO_DETECTION = refuse('validation_error', 'No engine of this service detects languages.');

/** Other APIs name their own parameter for it. */
export const SOURCE_LANG_NEEDED = refuse(
  'validation_error',
  'source_lang: is needed, because the engine of this service does not detect the language of a text.',
);

export function noFormality(formality: string): Refusal {
  return refuse('validation_error', `formality: this target_lang does not support it; leave it out or use prefer_${formality}.`);
}

/** The end of a refusal: lists the targets of a source, or without one those of any. */
export function targetsOffered(sourceLang: string | undefined, languages: Languages, shown = (code: string): string => code): string {
  const targets = languages.targetsFrom(sourceLang).map(({ code }) => shown(code));
  return targets.length === 0 ? 'no target is' : `offered: ${targets.join(', ')}`;
}

interface PassedRate {
  readonly limit: number;
  readonly retryAfterMs: number;
  /** Default: the team's. */
  readonly of?: LimitOwner | undefined;
  /** Without one it is a rate. */
  readonly window?: WindowNumber | undefined;
}

function secondsOf(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}

const WHOSE_REQUESTS: Readonly<Record<LimitKind['of'], string>> = {
  team: 'for the team, across all of its keys',
  key: 'for this key',
  tag: 'for requests with this tag, across all keys of the team',
  test_keys: 'for the team, across all of its keys',
};

/** The last one: a flooding caller gets the same over and over, and it is written only once. */
let latest: { readonly limit: number; readonly seconds: number; readonly kind: LimitKind; readonly refusal: Refusal } | undefined;

function rateLimited({ limit, retryAfterMs }: PassedRate, kind: LimitKind): Refusal {
  const seconds = secondsOf(retryAfterMs);
  if (latest?.limit === limit && latest.seconds === seconds && latest.kind === kind) return latest.refusal;
  const { name, of, per, counts } = kind;
  const members = per === 'second' ? { limit } : { limit, limit_of: name };
  const refusal = refuse('rate_limited', `At most ${limit} ${counts} per ${per} are allowed ${WHOSE_REQUESTS[of]}.`, members, [
    ['Retry-After', String(seconds)],
    ['X-RateLimit-Limit', String(limit)],
  ]);
  latest = { limit, seconds, kind, refusal };
  return refusal;
}

/**
 * The refusal by a rate; notes for the log whose limit it is. `reports`: whether answers report the
 * rate.
 */
export function tooManyRequests(x: Exchange, passed: PassedRate, reports: boolean): Refusal {
  const { limit, of, window, retryAfterMs } = passed;
  const kind = limitKind(of, window);
  if (reports) {
    const state = { limit, remaining: 0, of };
    const fields =
      window === undefined ? rateLimitHeaders(state) : rateLimitHeaders(undefined, [{ ...state, ...window, resetMs: retryAfterMs }]);
    x.responseHeaders = [...x.responseHeaders, ...fields];
  }
  x.need(requestStatsSlot).limitOf = kind.name;
  return rateLimited(passed, kind);
}

/** In whole seconds. Certain are only `remaining` requests within the next second. */
const RATE_SECONDS = RATE_WINDOW_MS / 1000;

/** What is left after a request took its place. */
interface LeftOfRate {
  readonly limit: number;
  readonly remaining: number;
  readonly of?: LimitOwner | undefined;
}

interface LeftOfWindow extends LeftOfRate, WindowNumber {
  readonly resetMs: number;
}

/** By draft-ietf-httpapi-ratelimit-headers-11: policies for the rate and each window. */
export function rateLimitHeaders(rate: LeftOfRate | undefined, windows: readonly LeftOfWindow[] = []): HeaderList {
  const policies: string[] = [];
  const states: string[] = [];
  const add = ({ policy, counts }: LimitKind, { limit, remaining }: LeftOfRate, lengthSeconds: number, resetSeconds: number): void => {
    // The unit is requests unless it is named.
    policies.push(`"${policy}";q=${limit}${counts === 'requests' ? '' : `;qu="${counts}"`};w=${lengthSeconds}`);
    states.push(`"${policy}";r=${remaining};t=${resetSeconds}`);
  };
  if (rate !== undefined) add(limitKind(rate.of), rate, RATE_SECONDS, RATE_SECONDS);
  for (const one of windows) add(limitKind(one.of, one), one, windowSeconds(one.per), secondsOf(one.resetMs));
  return [
    ['RateLimit-Policy', policies.join(', ')],
    ['RateLimit', states.join(', ')],
  ];
}
