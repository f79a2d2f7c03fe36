// Events about refusals for a limit, for a plugin's store, whose ledger tells nothing: the process that has refused a request looks
// just after it whether that was reported, and keeps the event.
import { eventIds } from '../../domain/event-rules.ts';
import { costMicro } from '../../domain/money.ts';
import { SHARED_RECORDS } from '../../domain/shared-records.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import { windowAt } from '../../domain/period.ts';
import type {
  Admission,
  AdmissionRequest,
  Callbacks,
  CallerCheck,
  CheckedCaller,
  CreditExhausted,
  QuotaExceeded,
  RateLimited,
} from '../../ports/ledger.ts';
import type { LimitReached } from '../../ports/outbox.ts';
import type { NewEvent } from '../../ports/record-space.ts';
import type { Store } from '../../ports/store.ts';
import type { PeriodUse } from '../../ports/usage-history.ts';
import { hasAddedSince, readReportedLimits, reportedLimitsName, withReportedLimit } from './reported-record.ts';
import type { ReportedLimit } from './reported-record.ts';
import { usageOf } from './usage-events.ts';

type Asked = AdmissionRequest | CallerCheck;
type LimitRefusal = QuotaExceeded | CreditExhausted | RateLimited;
type Parts = Pick<Store, 'teams' | 'history' | 'records'> & { readonly nowMs: () => number };

/** A refusal that may have to be reported. */
interface Refused {
  /** The same for all refusals of which only the first is reported. */
  readonly subject: string;
  /** Until when another one is not reported; of credit, until when it is not looked at. */
  readonly untilMs: number;
  readonly teamId: string;
  /** Those to reserve; `undefined` if none would have been. */
  readonly characters: number | undefined;
  readonly refusal: LimitRefusal;
  /** Empty for the team's. */
  readonly whose: { readonly keyId?: string; readonly tag?: string; readonly testKeys?: true };
}

/** So many subjects are remembered; of others the store is asked again. */
const KNOWN_MAX = 10_000;
/** So many refusals wait to be reported; of further ones, the next is. */
const WAITING_MAX = 500;
/** How long a refusal for credit need not be looked at again: whether credit was added since is only known to the store. */
const CREDIT_AGAIN_MS = 1000;
/** The same for others: a failover of the store may have lost what was reported. */
const AGAIN_MS = 10_000;

export class LimitEvents {
  readonly #parts: Parts;
  /** What is being reported, or was, and until when it need not be looked at. */
  readonly #known = new Map<string, number>();
  #telling: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The callbacks of a request to the ledger: a refusal is reported, too. */
  watching<Answer extends Admission | CheckedCaller>(asked: Asked & Callbacks<Answer>): Callbacks<Answer> {
    const askedAtMs = this.#parts.nowMs();
    return {
      answered: (answer) => {
        this.#note(asked, answer, askedAtMs);
        asked.answered(answer);
      },
      failed: (error) => asked.failed(error),
    };
  }

  #note(asked: Asked, answer: Admission | CheckedCaller, askedAtMs: number): void {
    const refused = refusedFor(asked, answer, askedAtMs);
    if (refused === undefined || this.#waiting >= WAITING_MAX) return;
    if (this.#parts.nowMs() < (this.#known.get(refused.subject) ?? -Infinity)) return;
    if (this.#known.size >= KNOWN_MAX) for (const [subject, untilMs] of this.#known) if (untilMs < Infinity) this.#known.delete(subject);
    // Until it is reported, others of the flood do not look as well.
    this.#known.set(refused.subject, Infinity);
    this.#waiting++;
    this.#telling = this.#telling.then(async () => {
      const isReported = await this.#tell(refused).catch(() => false);
      this.#waiting--;
      if (isReported) this.#known.set(refused.subject, Math.min(refused.untilMs, this.#parts.nowMs() + AGAIN_MS));
      else this.#known.delete(refused.subject);
    });
  }

  /** Resolves when everything that was refused before is reported. */
  idle(): Promise<void> {
    return this.#telling;
  }

  /** Returns false if the store does not answer. */
  async #tell(refused: Refused): Promise<boolean> {
    const { teams, history, records, nowMs } = this.#parts;
    const { teamId } = refused;
    const name = reportedLimitsName(teamId);
    const values = await records.read(SHARED_RECORDS, [name]);
    const periods = await history.periods(teamId);
    if (isUnavailable(values) || isUnavailable(periods)) return false;
    const limit = periods && newLimit(refused, periods, readReportedLimits(values[0]));
    if (limit === undefined) return true;
    const usage = await teams.usage(teamId);
    if (usage === undefined || isUnavailable(usage)) return usage === undefined;
    // Of the period of the refusal, if that has ended by now.
    const period = periods!.find(({ endMs }) => isOfPeriod(refused) && endMs === refused.untilMs);
    const then = period === undefined || usage.periodEndMs === period.endMs ? usage : usageOf(usage.team, period);
    const event: NewEvent = { id: limit.id, facts: factsOf(refused, then) };
    // Only if the team still exists. What dies in between is reported again under the same id.
    const kept = await records.change(teamId, [], () => ({ result: true, event }));
    if (kept === undefined || isUnavailable(kept)) return kept === undefined;
    const noted = await records.change(SHARED_RECORDS, [name], ([value]) => ({
      result: true,
      put: [{ ...name, value: withReportedLimit(value, limit, nowMs()) }],
    }));
    return noted === true;
  }
}

function isOfPeriod({ refusal }: Refused): boolean {
  return refusal.kind === 'quota_exceeded' && refusal.window === undefined;
}

/** `askedAtMs`: when the ledger was asked, so at most as late as its answer. */
function refusedFor(asked: Asked, answer: Admission | CheckedCaller, askedAtMs: number): Refused | undefined {
  const { teamId, keyId, tag } = asked;
  const characters = 'reserve' in asked && asked.reserve ? (asked.charged ?? asked.characters) : undefined;
  if (answer.kind === 'credit_exhausted')
    return { subject: `${teamId} credit`, untilMs: askedAtMs + CREDIT_AGAIN_MS, teamId, characters, refusal: answer, whose: {} };
  const isOfWindow = answer.kind === 'rate_limited' && answer.window !== undefined;
  if (answer.kind !== 'quota_exceeded' && !isOfWindow) return undefined;
  const whose = whoseOf(answer.of, keyId, tag?.name);
  const untilMs =
    answer.kind === 'quota_exceeded' ? answer.periodEndMs : windowAt(answer.window!.per, askedAtMs + answer.retryAfterMs - 1).endMs;
  const subject = `${teamId} ${JSON.stringify(whose)} ${answer.window?.per ?? ''} ${untilMs}`;
  return { subject, untilMs, teamId, characters, refusal: answer, whose };
}

function whoseOf(of: QuotaExceeded['of'], keyId: string, tag: string | undefined): Refused['whose'] {
  if (of === 'key') return { keyId };
  if (of === 'tag' && tag !== undefined) return { tag };
  return of === 'test_keys' ? { testKeys: true } : {};
}

/** What to tell and to remember; `undefined` if it was reported. */
function newLimit(
  { teamId, refusal, whose, untilMs }: Refused,
  periods: readonly PeriodUse[],
  reported: readonly ReportedLimit[],
): ReportedLimit | undefined {
  if (refusal.kind === 'credit_exhausted') {
    const last = reported.find(({ since }) => since !== undefined);
    if (last !== undefined && !hasAddedSince(last, periods)) return undefined;
    const nth = (last?.since?.nth ?? 0) + 1;
    const [{ number: period, credit }] = periods as [PeriodUse];
    // What is added in the moment between the refusal and this counts as before it.
    return { id: eventIds.creditLimit(teamId, nth), since: { nth, period, addedMicro: credit.addedMicro } };
  }
  const of = whose.tag === undefined ? (whose.keyId ?? teamId) : eventIds.ofTag(teamId, whose.tag);
  if (refusal.window !== undefined) {
    const id = eventIds.windowLimit(of, refusal.window.per, windowAt(refusal.window.per, untilMs - 1).startMs);
    return reported.some((one) => one.id === id) ? undefined : { id, untilMs };
  }
  const period = periods.find(({ endMs }) => endMs === untilMs);
  if (period === undefined) return undefined;
  const id = whose.testKeys === true ? eventIds.testLimit(teamId, period) : eventIds.quotaLimit(of, period);
  return reported.some((one) => one.id === id) ? undefined : { id, untilMs };
}

function factsOf({ characters, refusal, whose }: Refused, usage: LimitReached['usage']): LimitReached {
  const common = { kind: 'limit_reached', ...whose, usage } as const;
  if (refusal.kind === 'credit_exhausted') {
    return { ...common, code: 'credit_exhausted', requiredMicro: costMicro(characters!, usage.team.limits.minorPerMillion) };
  }
  if (refusal.window === undefined) return { ...common, code: 'quota_exceeded', requiredCharacters: characters! };
  const required = characters === undefined ? {} : { requiredCharacters: characters };
  return { ...common, code: refusal.kind, window: refusal.window, ...required };
}
