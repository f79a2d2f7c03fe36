// The admission: one ledger operation checks revocation, rate, length, quota and credit. `settle` commits or releases the
// reservation.
import { reserveSlot } from '../core/exchange.ts';
import type { Exchange } from '../core/exchange.ts';
import { LATER, NO_HEADERS } from '../core/outcome.ts';
import type { HeaderList, Outcome, Refusal, StepResult } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';
import { throwOn } from '../core/step.ts';
import type { BodyStep } from '../core/step.ts';
import { chargeSlot, judgeAgainSlot } from '../domain/charge.ts';
import type { ClientAddressReader } from '../domain/client-address.ts';
import type { Charge } from '../domain/charge.ts';
import type { CurrentOffers } from '../domain/engine-offer.ts';
import {
  clientAddressSlot,
  dictionaryIdSlot,
  keyDigestSlot,
  keyOwnerSlot,
  neededScopeSlot,
  planSlot,
  requestStatsSlot,
  requestTagSlot,
  traceSlot,
} from '../domain/slots.ts';
import { rfc3339 } from '../domain/period.ts';
import {
  ADDRESS_REFUSED,
  GLOSSARY_MISMATCH,
  keyRevoked,
  NO_SUCH_GLOSSARY,
  rateLimitHeaders,
  scopeMissing,
  STORE_UNAVAILABLE,
  TAG_DISABLED,
  tooManyRequests,
  UNKNOWN_KEY,
} from '../domain/refusals.ts';
import { CLOSED } from '../domain/scopes.ts';
import { readWanted, wantedBy } from '../domain/wanted-facts.ts';
import { TAG_HEADER } from '../domain/request-tag.ts';
import type { RequestTag } from '../domain/request-tag.ts';
import { quotaKind } from '../domain/limits.ts';
import { sentTag } from '../domain/sent-tag.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { FullWindows } from '../ports/full-windows.ts';
import type { KeyCache } from '../ports/key-directory.ts';
import type {
  Admission,
  AskedAdmission,
  GlossaryReference,
  Ledger,
  Placed,
  QuotaExceeded,
  Reservation,
  Settlements,
} from '../ports/ledger.ts';

export interface AdmitOptions {
  readonly ledger: Pick<Ledger, 'admit' | 'chargesParts'>;
  readonly settlements: Settlements;
  /** The rate windows that are known to be full. */
  readonly full: FullWindows;
  readonly cache: KeyCache;
  /** Reads a request's address, for keys that are restricted to certain ones. */
  readonly client: ClientAddressReader;
  readonly leaseMs: number;
  /** How many different tags of a team are counted; further ones are counted together. */
  readonly tagsMax: number;
  /** Whether answers report the rate limit. */
  readonly rateLimitHeaders: boolean;
  /** What is offered may depend on the team's plan, which the store must then report. */
  readonly offers: CurrentOffers;
  /** Called for an admission that should have reported the plan but did not, which a plugin's store may do. */
  readonly onNoPlan: () => void;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  /** Called with every admission's result. */
  readonly onAdmission: (admission: Admission, teamId: string) => void;
  /** Called for each admission that the store could not serve. */
  readonly onUnavailable: (cause: string) => void;
}

const reservationSlot = reserveSlot<Reservation | undefined>('reservation');

export function admitStep(options: AdmitOptions): BodyStep {
  const { settlements, client, full } = options;
  return {
    kind: 'body',
    name: 'admit',
    headers: [...client.fields, TAG_HEADER],
    run(x) {
      readWanted(x, x.need(keyOwnerSlot), client);
      return ask(x, options);
    },
    foresee(x) {
      if (full.isEmpty) return undefined;
      const owner = x.get(keyOwnerSlot);
      if (owner === undefined) return undefined;
      readWanted(x, owner, client);
      const tag = tagOf(x, options.tagsMax);
      const carried = { address: x.get(clientAddressSlot), scope: x.get(neededScopeSlot) };
      const refused = full.refusal({ keyId: owner.keyId, ...carried, tag: tag !== undefined && 'name' in tag ? tag : undefined });
      if (refused === undefined) return undefined;
      options.onAdmission(refused, owner.teamId);
      return tooManyRequests(x, refused, options.rateLimitHeaders);
    },
    settle(x, outcome) {
      const reservation = x.get(reservationSlot);
      if (reservation === undefined) return;
      // Charged only if an answer was handed to a caller who was still connected; otherwise the outcome is `client_closed`.
      if (outcome.kind !== 'reply' && outcome.kind !== 'stream') return settlements.release(reservation, x.get(traceSlot));
      const { characters } = x.need(requestStatsSlot);
      settlements.commit(reservation, characters === reservation.characters ? undefined : characters, x.get(traceSlot));
    },
  };
}

/**
 * Takes the request's reservation: it is no longer settled with the answer, but by the caller, and the request itself is not charged.
 * `undefined` if there is none.
 */
export function takeReservation(x: Exchange): Reservation | undefined {
  const reservation = x.get(reservationSlot);
  x.set(reservationSlot, undefined);
  const stats = x.need(requestStatsSlot);
  stats.characters = 0;
  stats.canSpare = false;
  return reservation;
}

function ask(x: Exchange, options: AdmitOptions): StepResult {
  options.ledger.admit(new PendingAdmission(x, options, options.now()));
  return LATER;
}

/** A single object per admission: the request to the ledger, its callbacks, and the context for its result. */
class PendingAdmission implements AskedAdmission {
  readonly requestId: string;
  readonly teamId: string;
  readonly keyId: string;
  readonly characters: number | undefined;
  readonly reserve: boolean;
  readonly charged: number | undefined;
  readonly leaseMs: number;
  readonly glossary: GlossaryReference | undefined;
  readonly reportRate: boolean;
  readonly reportPlan: true | undefined;
  readonly address: string | undefined;
  readonly scope: string | undefined;
  readonly tag: RequestTag | undefined;
  /** A malformed tag, answered like a fault in the body. */
  readonly tagRefusal: Refusal | undefined;
  readonly charge: Charge | undefined;
  readonly options: AdmitOptions;
  readonly startedAtMs: number;
  admission: Admission | undefined = undefined;
  readonly #x: Exchange;

  constructor(x: Exchange, options: AdmitOptions, startedAtMs: number) {
    const owner = x.need(keyOwnerSlot);
    const charge = x.get(chargeSlot);
    this.requestId = x.id;
    this.teamId = owner.teamId;
    this.keyId = owner.keyId;
    this.characters = charge?.characters;
    const tag = tagOf(x, options.tagsMax);
    const isSound = tag === undefined || 'name' in tag;
    this.tag = isSound ? tag : undefined;
    this.tagRefusal = isSound ? undefined : tag;
    this.reserve = charge !== undefined && charge.reserve && isSound;
    this.charged = this.reserve ? charge?.charged : undefined;
    this.leaseMs = charge?.leaseMs ?? options.leaseMs;
    this.glossary = this.reserve ? charge?.glossary : undefined;
    this.reportRate = options.rateLimitHeaders;
    this.reportPlan = options.offers.current.byPlan ? true : undefined;
    this.address = x.get(clientAddressSlot);
    this.scope = x.get(neededScopeSlot);
    this.charge = charge;
    this.options = options;
    this.startedAtMs = startedAtMs;
    this.#x = x;
  }

  answered(admission: Admission): void {
    this.admission = admission;
    this.#x.resume(conclude, this);
  }

  failed(error: unknown): void {
    this.#x.resume(throwOn, error);
  }
}

function conclude(x: Exchange, asking: PendingAdmission): StepResult {
  const { teamId, charge, options } = asking;
  const admission = asking.admission!;
  const nowMs = options.now();
  x.need(requestStatsSlot).storeMs += nowMs - asking.startedAtMs;
  x.get(traceSlot)?.admission(asking.startedAtMs, nowMs, admission.kind);
  options.onAdmission(admission, teamId);
  const wanted = wantedBy(admission.kind, asking);
  if (wanted !== undefined && !x.cancelled) {
    options.cache.noteWanted(x.need(keyDigestSlot), wanted);
    readWanted(x, { [wanted]: true }, options.client);
    return ask(x, options);
  }
  if (admission.kind === 'unavailable') {
    options.onUnavailable(admission.cause);
    options.settlements.releaseUnknown(teamId, x.id, x.get(traceSlot));
    return STORE_UNAVAILABLE;
  }
  if (options.rateLimitHeaders) x.responseHeaders = [...x.responseHeaders, ...rateLimitHeadersOf(admission)];
  if (admission.kind === 'key_unknown') options.cache.forget(x.need(keyDigestSlot));
  if (admission.kind === 'admitted') {
    if (admission.reservation !== undefined) {
      x.set(reservationSlot, admission.reservation);
      if (asking.tag !== undefined) x.set(requestTagSlot, asking.tag);
      const stats = x.need(requestStatsSlot);
      stats.characters = admission.reservation.characters;
      stats.canSpare = options.ledger.chargesParts === true;
    }
    if (admission.dictionaryId !== undefined) x.set(dictionaryIdSlot, admission.dictionaryId);
  }
  const again = asking.reportPlan === undefined ? undefined : judgedAgain(x, asking, admission);
  if (again !== undefined) return again;
  if (admission.kind === 'rate_limited') options.full.note(asking, admission, asking.startedAtMs);
  return admission.kind === 'admitted' ? (charge?.refusal ?? asking.tagRefusal) : refusalOf(x, admission, asking);
}

/** A refusal if it is none. */
function tagOf(x: Exchange, distinctMax: number): RequestTag | Refusal | undefined {
  const name = sentTag(x);
  return typeof name === 'string' ? { name, distinctMax } : name;
}

/** Stores the plan and judges the request again with it. */
function judgedAgain(x: Exchange, { charge, options }: PendingAdmission, admission: Admission): Refusal | undefined {
  const again = x.get(judgeAgainSlot);
  // It may hold the body, which a slow engine must not keep alive.
  x.set(judgeAgainSlot, undefined);
  if (!isPlaced(admission)) return undefined;
  const { plan } = admission;
  if (plan === undefined) options.onNoPlan();
  x.set(planSlot, plan ?? '');
  // The length is one of the rules for `text`, which come first.
  return admission.kind === 'text_too_long' || again?.refusal !== charge?.refusal ? undefined : again?.judge();
}

/** The results that have taken a slot in the rate window. */
const PLACED: ReadonlySet<Admission['kind']> = new Set<Placed['kind']>([
  'admitted',
  'text_too_long',
  'glossary_missing',
  'glossary_mismatch',
  'quota_exceeded',
  'credit_exhausted',
]);

function isPlaced(admission: Admission): admission is Placed {
  return PLACED.has(admission.kind);
}

/** No headers if the admission ended before the rate check, or with it. */
function rateLimitHeadersOf(admission: Exclude<Admission, StoreUnavailable>): HeaderList {
  if (!('rate' in admission) || admission.rate === undefined) return NO_HEADERS;
  return rateLimitHeaders(admission.rate, 'windows' in admission ? admission.windows : undefined);
}

type Refused = Exclude<Admission, { readonly kind: 'admitted' | 'unavailable' }>;

function refusalOf(x: Exchange, admission: Refused, { charge, options }: PendingAdmission): Outcome {
  switch (admission.kind) {
    case 'key_unknown':
      return UNKNOWN_KEY;
    case 'key_revoked':
      return keyRevoked(admission.reason);
    case 'address_wanted':
    case 'address_refused':
      return ADDRESS_REFUSED;
    case 'scope_wanted':
    case 'scope_missing':
      return scopeMissing(x.route.scope ?? CLOSED);
    case 'tag_disabled':
      return TAG_DISABLED;
    case 'repeated':
      return STORE_UNAVAILABLE;
    case 'rate_limited':
      return tooManyRequests(x, admission, options.rateLimitHeaders);
    case 'text_too_long':
      return textTooLong(admission.maxCharacters, charge?.characters ?? 0);
    case 'glossary_missing':
      return charge?.missingGlossary ?? NO_SUCH_GLOSSARY;
    case 'glossary_mismatch':
      return GLOSSARY_MISMATCH;
    case 'quota_exceeded':
      x.need(requestStatsSlot).limitOf = quotaKind(admission.of, admission.window).name;
      return quotaExceeded(admission);
    case 'credit_exhausted':
      x.need(requestStatsSlot).limitOf = 'team';
      return refuse('credit_exhausted', 'The prepaid balance does not cover this request; add credit.', {
        balance_minor: admission.balanceMinor,
        required_minor: admission.requiredMinor,
        currency: admission.currency,
      });
  }
}

const WHOSE_CHARACTERS = { team: 'the team', key: 'this key', tag: 'requests with this tag', test_keys: "the team's test keys" } as const;

function quotaExceeded({ characterLimit, overageCapMinor, periodEndMs, of, window }: QuotaExceeded): Outcome {
  const whose = WHOSE_CHARACTERS[of ?? 'team'];
  const members = { character_limit: characterLimit, overage_cap_minor: overageCapMinor, period_end: rfc3339(periodEndMs) };
  if (window !== undefined) {
    const detail = `The request has more characters than the ${characterLimit} that ${whose} may use in a ${window.per}; send less at once, or have the limit raised.`;
    return refuse('quota_exceeded', detail, { ...members, limit_of: quotaKind(of, window).name });
  }
  return refuse(
    'quota_exceeded',
    `The characters left for ${whose} in this period do not cover the request; wait for the next period, or have the limit raised.`,
    members,
  );
}

function textTooLong(maxCharacters: number, characters: number): Outcome {
  return refuse('text_too_long', `text: is ${characters} characters long in total; the plan allows ${maxCharacters} per request.`, {
    max_characters: maxCharacters,
    characters,
  });
}
