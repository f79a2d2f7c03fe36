// The resolution of a reservation: committed or released once; a repetition is answered with the id's state.
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
  // A period of long ago may have been cleared away.
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

  /** To be run inside a transaction; `nowMs` is the operation's one reading of the clock. */
  resolve({ teamId, requestId, verdict, characters }: Resolved, nowMs: number): Resolution {
    const team = this.#books.team(teamId);
    if (team === undefined) return { kind: 'absent' };
    this.#expiry.run(team, nowMs);
    const isCommit = verdict === 'commit';
    const held = this.#ids.resolve(team, requestId, isCommit ? COMMITTED : RELEASED, nowMs);
    if (held === undefined) return this.#resolveClosed(team, requestId, verdict, nowMs);
    const { counts } = team;
    counts.heldMicro -= held.priceMicro;
    // An ended period's counts are closed; what was held there is no longer in the team's counters.
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

  /** A key's row has the counts of one period: those of an earlier one are moved to `usage` first. */
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

/** So many characters of a reservation, with their share of its price, which is a whole number for each character. */
function partOf(held: Held, wanted: number): Held {
  const characters = Math.max(0, Math.min(wanted, held.characters));
  return { ...held, characters, priceMicro: characters === 0 ? 0 : (held.priceMicro / held.characters) * characters };
}

function wordOf(state: number): 'committed' | 'released' | 'expired' {
  if (state === COMMITTED) return 'committed';
  return state === EXPIRED ? 'expired' : 'released';
}
