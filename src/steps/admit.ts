// The admission: one ledger operation checks revocation, rate, length, quota and credit. `settle`
// commits or releases the reservation.
import { reserveSlot } from '../core/exchange.ts';
import type { Exchange } from '../core/exchange.ts';
import { LATER } from '../core/outcome.ts';
import type { Refusal, StepResult } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';
import type { BodyStep } from '../core/pipeline.ts';
import {
  chargeSlot,
  judgeAgainSlot,
  clientAddressSlot,
  dictionaryIdSlot,
  keyOwnerSlot,
  neededScopeSlot,
  planSlot,
  requestStatsSlot,
  requestTagSlot,
  traceSlot,
} from '../domain/slots.ts';
import type { Charge } from '../domain/slots.ts';
import { PLACED_KINDS } from '../domain/admission.ts';
import type { CurrentOffers } from '../domain/engine-offer.ts';
import { rfc3339 } from '../domain/period.ts';
import { GLOSSARY_MISMATCH, NO_SUCH_GLOSSARY, rateLimitHeaders, STORE_UNAVAILABLE, tooManyRequests } from '../domain/refusals.ts';
import { TAG_HEADER } from '../domain/request-tag.ts';
import type { RequestTag } from '../domain/request-tag.ts';
import { quotaKind } from '../domain/window-limits.ts';
import type { Admission, AdmissionRequest, Admitted, Ledger, Placed, QuotaExceeded, Reservation, Settlements } from '../ports/ledger.ts';
import { callerRefusal, needsMore, questionAbout, readRequired, sentTag, timed, whenAnswered } from './caller.ts';
import type { CallerQuestion, CallerQuestionOptions } from './caller.ts';

interface AdmitOptions extends CallerQuestionOptions {
  readonly ledger: Pick<Ledger, 'admit'>;
  readonly settlements: Settlements;
  readonly leaseMs: number;
  /** How many different tags of a team are counted; further ones are counted together. */
  readonly tagsMax: number;
  /** What is offered may depend on the team's plan, which the store must then report. */
  readonly offers: CurrentOffers;
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
      readRequired(x, x.need(keyOwnerSlot), client);
      return ask(x, options);
    },
    foresee(x) {
      if (full.isEmpty) return undefined;
      const owner = x.get(keyOwnerSlot);
      if (owner === undefined) return undefined;
      readRequired(x, owner, client);
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
      // Charged only if a connected caller got an answer; otherwise it is `client_closed`.
      if (outcome.kind !== 'reply' && outcome.kind !== 'stream') return settlements.release(reservation, x.get(traceSlot));
      const { characters } = x.need(requestStatsSlot);
      settlements.commit(reservation, characters === reservation.characters ? undefined : characters, x.get(traceSlot));
    },
  };
}

/** Takes the reservation: the caller settles it, and the request itself is not charged. */
export function takeReservation(x: Exchange): void {
  x.set(reservationSlot, undefined);
  const stats = x.need(requestStatsSlot);
  stats.characters = 0;
  stats.canSpare = false;
}

interface PendingAdmission {
  readonly question: AdmissionRequest & CallerQuestion;
  readonly charge: Charge | undefined;
  /** A malformed tag, answered like a fault in the body. */
  readonly tagRefusal: Refusal | undefined;
}

function ask(x: Exchange, options: AdmitOptions): typeof LATER {
  const charge = x.get(chargeSlot);
  const tag = tagOf(x, options.tagsMax);
  const isValid = tag === undefined || 'name' in tag;
  const reserve = charge !== undefined && charge.reserve && isValid;
  const question = {
    ...questionAbout(x, isValid ? tag : undefined, options.now()),
    characters: charge?.characters,
    reserve,
    charged: reserve ? charge.charged : undefined,
    leaseMs: charge?.leaseMs ?? options.leaseMs,
    glossary: reserve ? charge.glossary : undefined,
    reportRate: options.rateLimitHeaders,
    reportPlan: options.offers.current.byPlan || undefined,
  };
  const asked = { question, charge, tagRefusal: isValid ? undefined : tag };
  options.ledger.admit({ ...question, ...whenAnswered<Admission>(x, (_x, admission) => conclude(x, admission, asked, options)) });
  return LATER;
}

function conclude(x: Exchange, admission: Admission, asked: PendingAdmission, options: AdmitOptions): StepResult {
  const { question, charge, tagRefusal } = asked;
  const { teamId, startedAtMs } = question;
  const nowMs = timed(x, question, options);
  x.get(traceSlot)?.admission(startedAtMs, nowMs, admission.kind);
  options.onAdmission(admission, teamId);
  if (needsMore(x, admission, question, options)) return ask(x, options);
  if (admission.kind === 'unavailable') {
    options.onUnavailable(admission.cause);
    options.settlements.releaseUnknown(teamId, x.id, x.get(traceSlot));
    return STORE_UNAVAILABLE;
  }
  // None if the admission ended before the rate check, or with it.
  if (options.rateLimitHeaders && 'rate' in admission && admission.rate !== undefined) {
    const windows = 'windows' in admission ? admission.windows : undefined;
    x.responseHeaders = [...x.responseHeaders, ...rateLimitHeaders(admission.rate, windows)];
  }
  if (admission.kind === 'admitted') keep(x, admission, question.tag);
  const again = question.reportPlan === undefined ? undefined : judgedAgain(x, charge, admission);
  if (again !== undefined) return again;
  if (admission.kind === 'admitted') return charge?.refusal ?? tagRefusal;
  return isPlaced(admission) ? refusalOf(x, admission, charge) : callerRefusal(x, admission, question, options);
}

function keep(x: Exchange, { reservation, dictionaryId }: Admitted, tag: RequestTag | undefined): void {
  if (reservation !== undefined) {
    x.set(reservationSlot, reservation);
    if (tag !== undefined) x.set(requestTagSlot, tag);
    const stats = x.need(requestStatsSlot);
    stats.characters = reservation.characters;
    stats.canSpare = true;
  }
  if (dictionaryId !== undefined) x.set(dictionaryIdSlot, dictionaryId);
}

function isPlaced(admission: Admission): admission is Placed {
  return Object.hasOwn(PLACED_KINDS, admission.kind);
}

function refusalOf(x: Exchange, admission: Exclude<Placed, Admitted>, charge: Charge | undefined): Refusal {
  switch (admission.kind) {
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

/** A refusal if it is none. */
function tagOf(x: Exchange, distinctMax: number): RequestTag | Refusal | undefined {
  const name = sentTag(x);
  return typeof name === 'string' ? { name, distinctMax } : name;
}

/** Stores the plan and judges the request again with it. */
function judgedAgain(x: Exchange, charge: Charge | undefined, admission: Admission): Refusal | undefined {
  const again = x.get(judgeAgainSlot);
  // It may hold the body, which a slow engine must not keep alive.
  x.set(judgeAgainSlot, undefined);
  if (!isPlaced(admission)) return undefined;
  x.set(planSlot, admission.plan ?? '');
  // The length is one of the rules for `text`, which come first.
  return admission.kind === 'text_too_long' || again?.refusal !== charge?.refusal ? undefined : again?.judge();
}

const WHOSE_CHARACTERS = { team: 'the team', key: 'this key', tag: 'requests with this tag', test_keys: "the team's test keys" } as const;

function quotaExceeded({ characterLimit, overageCapMinor, periodEndMs, of, window }: QuotaExceeded): Refusal {
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

function textTooLong(maxCharacters: number, characters: number): Refusal {
  return refuse('text_too_long', `text: is ${characters} characters long in total; the plan allows ${maxCharacters} per request.`, {
    max_characters: maxCharacters,
    characters,
  });
}
