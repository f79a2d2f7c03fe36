// Writes events to the outbox, in the transactions of the operations that cause them.
import { creditReached, eventIds, nextCharacters, percentsReached } from '../../domain/event-rules.ts';
import type { EventRules } from '../../domain/event-rules.ts';
import { costMicro } from '../../domain/money.ts';
import type { Micro } from '../../domain/money.ts';
import type { CreditExhausted, QuotaExceeded, RateLimited } from '../../ports/ledger.ts';
import type { EventFacts } from '../../ports/outbox.ts';
import type { NewEvent } from '../../ports/record-space.ts';
import type { Team, Usage } from '../../ports/team-registry.ts';
import { deletionEvent, teamEvent } from '../records/operator-events.ts';
import type { TagInStore } from '../records/windowed-tag.ts';
import type { KeyInFile, TeamAccount } from './accounts.ts';
import type { HistoryHooks } from './periods.ts';
import { TEST_KEYS, WHOLE_TEAM } from './sqlite-schema.ts';
import { prepared, tuples } from './statements.ts';
import type { Statements } from './statements.ts';
import type { StoreParts } from './store-parts.ts';
import type { WindowAccounts } from './window-accounts.ts';

const SQL = {
  lastPercent: tuples<[percent: number]>('SELECT percent FROM told_percents WHERE team = ? AND period_no = ?'),
  setLastPercent: 'INSERT OR REPLACE INTO told_percents (team, period_no, percent) VALUES (?, ?, ?)',
  nextSerial: tuples<[serial: number]>(`UPDATE books SET event_serial = event_serial + 1
    WHERE team = (SELECT no FROM teams WHERE team_id = ?) RETURNING event_serial`),
  forgetPercents: 'DELETE FROM told_percents WHERE team = ? AND period_no <= ?',
  toldRefusal: tuples<[number: number, told: number]>('SELECT number, told FROM told_refusals WHERE team = ? AND key = ? AND code = ?'),
  setToldRefusal: 'INSERT OR REPLACE INTO told_refusals (team, key, code, number, told) VALUES (?, ?, ?, ?, 1)',
  day: tuples<[characters: number, requests: number]>(
    'SELECT coalesce(sum(characters), 0), coalesce(sum(requests), 0) FROM usage_days WHERE team = ? AND day = ?',
  ),
};

/** The number of characters from which the next threshold is reached, in this period. */
export interface ThresholdMark {
  readonly periodNo: number;
  readonly characters: number;
}

type Parts = Pick<StoreParts, 'database' | 'accounts' | 'usage' | 'eventRows'>;

export class SqliteEvents implements HistoryHooks {
  readonly #parts: Parts;
  readonly #rules: EventRules;
  readonly #sql: Statements<typeof SQL>;

  constructor(parts: Parts, rules: EventRules) {
    this.#parts = parts;
    this.#rules = rules;
    this.#sql = prepared(parts.database, SQL);
  }

  /** A charge of this price is in the team's counts. Usually only a few comparisons. */
  charged(team: TeamAccount, price: Micro, nowMs: number): void {
    const { counts, limits } = team;
    if (limits.billing === 'credit')
      return this.balance(team.teamId, limits.currency, counts.balanceMicro + price, counts.balanceMicro, nowMs);
    if (team.thresholdMark?.periodNo !== counts.periodNo) team.thresholdMark = this.#markOf(team);
    if (counts.usedCharacters - counts.allowanceUsed < team.thresholdMark.characters) return;
    this.#quota(team, nowMs);
    team.thresholdMark = this.#markOf(team);
  }

  /** A request of this key for so many characters was refused for a limit. Usually, in a flood, only a comparison. */
  refused(key: KeyInFile, tag: TagInStore | undefined, refusal: QuotaExceeded | CreditExhausted, characters: number, nowMs: number): void {
    const { team } = key;
    if (refusal.kind === 'credit_exhausted') {
      if (!team.isCreditTold) this.#creditRefused(team, characters, nowMs);
      return;
    }
    const { periodNo } = team.counts;
    if (refusal.of === 'test_keys') {
      if (team.allowanceToldIn !== periodNo) this.#allowanceRefused(team, characters, nowMs);
      return;
    }
    if (refusal.of === 'tag') {
      if (tag?.uses.period.told === false) this.#tagRefused(team, tag, characters, nowMs);
      return;
    }
    const whose = refusal.of === 'key' ? key : team;
    if (whose.quotaToldIn !== periodNo) this.#quotaRefused(whose, team, characters, nowMs);
  }

  /** A request of this key was refused by a window, which is told of once in that window. `characters`: those to reserve. */
  refusedByWindow(
    key: KeyInFile,
    tag: TagInStore | undefined,
    refusal: RateLimited | QuotaExceeded,
    windowed: WindowAccounts,
    characters: number | undefined,
    nowMs: number,
  ): void {
    const { team } = key;
    const startMs = windowed.tell(key, tag, refusal);
    const { window } = refusal;
    if (startMs === undefined || window === undefined) return;
    const named = namedBy(refusal.of, key, tag);
    const facts = { kind: 'limit_reached', code: refusal.kind, window, ...named, ...required(characters) } as const;
    const of = named.tag === undefined ? (named.keyId ?? team.teamId) : eventIds.ofTag(team.teamId, named.tag);
    this.keep(eventIds.windowLimit(of, window.per, startMs), team.teamId, nowMs, { ...facts, usage: this.#usageNow(team, nowMs) });
  }

  #creditRefused(team: TeamAccount, characters: number, nowMs: number): void {
    const code = 'credit_exhausted';
    const [before = 0, told = 0] = this.#sql.toldRefusal.get(team.no, WHOLE_TEAM, code) ?? [];
    team.isCreditTold = true;
    if (told === 1) return;
    const requiredMicro = costMicro(characters, team.limits.minorPerMillion);
    const facts = { kind: 'limit_reached', code, requiredMicro, usage: this.#usageNow(team, nowMs) } as const;
    this.keep(eventIds.creditLimit(team.teamId, before + 1), team.teamId, nowMs, facts);
    this.#sql.setToldRefusal.run(team.no, WHOLE_TEAM, code, before + 1);
  }

  #quotaRefused(whose: TeamAccount | KeyInFile, team: TeamAccount, requiredCharacters: number, nowMs: number): void {
    const code = 'quota_exceeded';
    const { periodNo } = team.counts;
    const [of, id, keyId] = 'keyId' in whose ? [whose.no, whose.keyId, { keyId: whose.keyId }] : [WHOLE_TEAM, team.teamId, {}];
    const [toldIn] = this.#sql.toldRefusal.get(team.no, of, code) ?? [];
    whose.quotaToldIn = periodNo;
    if (toldIn === periodNo) return;
    const usage = this.#usageNow(team, nowMs);
    const period = { startMs: usage.periodStartMs, number: periodNo };
    this.keep(eventIds.quotaLimit(id, period), team.teamId, nowMs, { kind: 'limit_reached', code, ...keyId, requiredCharacters, usage });
    this.#sql.setToldRefusal.run(team.no, of, code, periodNo);
  }

  #allowanceRefused(team: TeamAccount, requiredCharacters: number, nowMs: number): void {
    const code = 'quota_exceeded';
    const { periodNo } = team.counts;
    const [toldIn] = this.#sql.toldRefusal.get(team.no, TEST_KEYS, code) ?? [];
    team.allowanceToldIn = periodNo;
    if (toldIn === periodNo) return;
    const usage = this.#usageNow(team, nowMs);
    const id = eventIds.testLimit(team.teamId, { startMs: usage.periodStartMs, number: periodNo });
    this.keep(id, team.teamId, nowMs, { kind: 'limit_reached', code, testKeys: true, requiredCharacters, usage });
    this.#sql.setToldRefusal.run(team.no, TEST_KEYS, code, periodNo);
  }

  #tagRefused(team: TeamAccount, tag: TagInStore, requiredCharacters: number, nowMs: number): void {
    const usage = this.#usageNow(team, nowMs);
    tag.uses.period.told = true;
    this.#parts.accounts.tags.keep(team, tag);
    const id = eventIds.quotaLimit(eventIds.ofTag(team.teamId, tag.name), { startMs: usage.periodStartMs, number: team.counts.periodNo });
    const facts = { kind: 'limit_reached', code: 'quota_exceeded', tag: tag.name, requiredCharacters, usage } as const;
    this.keep(id, team.teamId, nowMs, facts);
  }

  dayFinished({ no, teamId }: TeamAccount, day: number, nowMs: number): void {
    const [characters, requests] = this.#sql.day.get(no, day)!;
    this.keep(eventIds.day(teamId, day, requests), teamId, nowMs, { kind: 'usage_day', day, characters, requests });
  }

  periodClosed({ no, teamId }: TeamAccount, periodNo: number, nowMs: number): void {
    const { period, usage } = this.#parts.usage.closed(no, periodNo);
    // May be reached by reservations of the period that were committed after its end.
    if (period.limits.billing === 'quota') this.#keepReached(no, periodNo, usage, nowMs);
    this.#sql.forgetPercents.run(no, periodNo);
    this.keep(eventIds.period(teamId, period), teamId, nowMs, { kind: 'period_closed', period });
  }

  /** A balance has changed from one value to another. */
  balance(teamId: string, currency: string, before: Micro, after: Micro, nowMs: number): void {
    for (const thresholdMinor of creditReached(this.#rules, before, after)) {
      const facts = { kind: 'credit_threshold', thresholdMinor, balanceMicro: after, currency } as const;
      this.keepNew({ id: eventIds.credit(teamId, thresholdMinor), numbered: true, facts }, teamId, nowMs);
    }
  }

  teamChanged(kind: 'team_created' | 'team_updated', team: Team, nowMs: number): void {
    this.keepNew(teamEvent(kind, team), team.teamId, nowMs);
  }

  teamDeleted(teamId: string, nowMs: number): void {
    this.keepNew(deletionEvent(teamId), teamId, nowMs);
  }

  keepNew({ id, numbered, facts }: NewEvent, teamId: string, nowMs: number): void {
    const ownId = numbered === true ? eventIds.numbered(id, { atMs: nowMs, serial: this.#sql.nextSerial.get(teamId)![0] }) : id;
    this.keep(ownId, teamId, nowMs, facts);
  }

  keep(id: string, teamId: string, nowMs: number, facts: EventFacts): void {
    this.#parts.eventRows.keep({ event: { id, teamId, atMs: nowMs, facts }, dueMs: nowMs, tries: 0 });
  }

  #quota(team: TeamAccount, nowMs: number): void {
    this.#keepReached(team.no, team.counts.periodNo, this.#usageNow(team, nowMs), nowMs);
  }

  /** The transaction's counts must be written before rows are read. */
  #usageNow(team: TeamAccount, nowMs: number): Usage {
    const { accounts, usage } = this.#parts;
    accounts.touch(team);
    accounts.flush();
    return usage.current(team.no, nowMs);
  }

  #keepReached(no: number, periodNo: number, usage: Usage, nowMs: number): void {
    const { teamId, limits } = usage.team;
    const period = { startMs: usage.periodStartMs, number: periodNo };
    const charged = usage.characters - usage.allowanceUsed;
    for (const percent of percentsReached(this.#rules, limits.characterLimit, this.#lastPercent(no, periodNo), charged)) {
      this.keep(eventIds.quota(teamId, period, percent), teamId, nowMs, { kind: 'quota_threshold', percent, usage });
      this.#sql.setLastPercent.run(no, periodNo, percent);
    }
  }

  #markOf({ no, limits, counts: { periodNo } }: TeamAccount): ThresholdMark {
    return { periodNo, characters: nextCharacters(this.#rules, limits.characterLimit, this.#lastPercent(no, periodNo)) };
  }

  #lastPercent(team: number, periodNo: number): number {
    return this.#sql.lastPercent.get(team, periodNo)?.[0] ?? 0;
  }
}

/** Whose limit refused a request, as events name it. */
function namedBy(of: QuotaExceeded['of'], key: KeyInFile, tag: TagInStore | undefined): { readonly keyId?: string; readonly tag?: string } {
  if (of === 'tag' && tag !== undefined) return { tag: tag.name };
  return of === 'key' ? { keyId: key.keyId } : {};
}

function required(characters: number | undefined): { readonly requiredCharacters?: number } {
  return characters === undefined ? {} : { requiredCharacters: characters };
}
