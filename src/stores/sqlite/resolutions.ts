// The settlement of a reservation: commits or releases it once; repetitions get the state of the id.
import type { DatabaseSync } from 'node:sqlite';
import type { AskedResolution, Resolution, Verdict } from '../../ports/ledger.ts';
import type { Books } from './books.ts';
import type { Expiry } from './expiry.ts';
import { ADDED } from './periods.ts';
import type { DayCounts, HistoryHooks } from './periods.ts';
import type { Held } from './held-reservations.ts';
import type { RequestIds } from './request-ids.ts';
import { COMMITTED, EXPIRED, RELEASED } from './sqlite-schema.ts';
import { prepared } from './statements.ts';
import type { Statements } from './statements.ts';
import type { KeyBooks, TeamBooks } from './team-books.ts';

const SQL = {
  // The row of a period long past may have been deleted.
  addUsage: `INSERT INTO usage (team, period_no, key, characters, requests)
    SELECT team, no, ?, ?, ? FROM periods WHERE team = ? AND no = ? ON CONFLICT (team, period_no, key) ${ADDED}`,
};

export interface ResolutionParts {
  readonly database: DatabaseSync;
  readonly books: Books;
  readonly expiry: Expiry;
  readonly ids: RequestIds;
  readonly days: DayCounts;
  readonly hooks: HistoryHooks;
}

type Resolved = Pick<AskedResolution, 'teamId' | 'requestId' | 'verdict' | 'characters'>;

export class Resolutions {
  readonly #books: Books;
  readonly #expiry: Expiry;
  readonly #ids: RequestIds;
  readonly #days: DayCounts;
  readonly #hooks: HistoryHooks;
  readonly #sql: Statements<typeof SQL>;

  constructor({ database, books, expiry, ids, days, hooks }: ResolutionParts) {
    this.#books = books;
    this.#expiry = expiry;
    this.#ids = ids;
    this.#days = days;
    this.#hooks = hooks;
    this.#sql = prepared(database, SQL);
  }

  /** Call it within a transaction; `nowMs` is the operation's only reading of the clock. */
  resolve({ teamId, requestId, verdict, characters }: Resolved, nowMs: number): Resolution {
    const team = this.#books.team(teamId);
    if (team === undefined) return { kind: 'absent' };
    this.#expiry.run(team, nowMs);
    const isCommit = verdict === 'commit';
    const held = this.#ids.resolve(team, requestId, isCommit ? COMMITTED : RELEASED, nowMs);
    if (held === undefined) return this.#resolveClosed(team, requestId, verdict, nowMs);
    const { counts } = team;
    counts.heldMicro -= held.priceMicro;
    // The counts of a past period are final; its holds are no longer in the team's counters.
    const isCurrent = held.periodNo === counts.periodNo;
    if (isCurrent) counts.heldCharacters -= held.characters;
    const key = this.#books.keyOf(team, held.key);
    if (key.guard !== undefined) this.#books.hold(key, -held.characters, held.periodNo);
    if (isCommit) this.#charge(key, characters === undefined ? held : partOf(held, characters), isCurrent, nowMs);
    this.#books.touch(team);
    return { kind: isCommit ? 'committed' : 'released' };
  }

  #charge(key: KeyBooks, charged: Held, isCurrent: boolean, nowMs: number): void {
    const { team } = key;
    const { counts } = team;
    counts.balanceMicro -= charged.priceMicro;
    if (isCurrent) counts.usedCharacters += charged.characters;
    this.#count(key, charged);
    this.#days.count(key, charged.characters, nowMs);
    this.#books.touchKey(key);
    this.#hooks.charged(team, charged.priceMicro, nowMs);
  }

  /** A key's row counts a single period: counts of an earlier one are first moved to `usage`. */
  #count(key: KeyBooks, { periodNo, characters }: Held): void {
    const { team, no, counts } = key;
    if (periodNo < counts.periodNo) {
      this.#sql.addUsage.run(no, characters, 1, team.no, periodNo);
      return;
    }
    if (periodNo > counts.periodNo) {
      if (counts.requests > 0) this.#sql.addUsage.run(no, counts.characters, counts.requests, team.no, counts.periodNo);
      Object.assign(counts, { periodNo, characters: 0, requests: 0 });
    }
    counts.characters += characters;
    counts.requests++;
  }

  #resolveClosed(team: TeamBooks, requestId: string, verdict: Verdict, nowMs: number): Resolution {
    const known = this.#ids.find(team.no, requestId, nowMs);
    if (known !== undefined) return { kind: wordOf(known.state) };
    if (verdict === 'commit') return { kind: 'absent' };
    this.#ids.addReleased(team.no, requestId, nowMs, true);
    return { kind: 'released' };
  }
}

/** A part of a reservation, with its share of the price, which is a whole number per character. */
function partOf(held: Held, wanted: number): Held {
  const characters = Math.max(0, Math.min(wanted, held.characters));
  return { ...held, characters, priceMicro: characters === 0 ? 0 : (held.priceMicro / held.characters) * characters };
}

function wordOf(state: number): 'committed' | 'released' | 'expired' {
  if (state === COMMITTED) return 'committed';
  return state === EXPIRED ? 'expired' : 'released';
}
