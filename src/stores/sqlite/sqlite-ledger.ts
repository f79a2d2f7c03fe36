// The ledger in SQLite: queues its operations for a group commit; a settlement commits or releases a reservation once, and
// repetitions get the state of the id.
import { REMEMBER_MS } from '../../domain/reservation.ts';
import type { AskedAdmission, AskedCheck, AskedResolution, Ledger, Resolution, Verdict } from '../../ports/ledger.ts';
import type { KeyBooks, TeamBooks } from './books.ts';
import { ADDED } from './periods.ts';
import type { Held } from './request-ids.ts';
import { COMMITTED, EXPIRED, RELEASED } from './sqlite-schema.ts';
import { prepared } from './statements.ts';
import type { Statements } from './statements.ts';
import type { StoreParts } from './store-parts.ts';

const SQL = {
  // The row of a period long past may have been deleted.
  addUsage: `INSERT INTO usage (team, period_no, key, characters, requests)
    SELECT team, no, ?, ?, ? FROM periods WHERE team = ? AND no = ? ON CONFLICT (team, period_no, key) ${ADDED}`,
};

type Parts = Pick<StoreParts, 'database' | 'group' | 'admissions' | 'books' | 'periods' | 'ids' | 'events'>;

export class SqliteLedger implements Ledger {
  readonly chargesParts = true;
  readonly #parts: Parts;
  readonly #sql: Statements<typeof SQL>;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#sql = prepared(parts.database, SQL);
  }

  admit(asked: AskedAdmission): void {
    this.#parts.group.add(this.#parts.admissions.admit, asked, true);
  }

  check(asked: AskedCheck): void {
    this.#parts.group.add(this.#parts.admissions.check, asked, true);
  }

  /** No caller waits for a settlement: it shares the transaction of an admission or of other settlements. */
  resolve(asked: AskedResolution): void {
    this.#parts.group.add(this.#settle, asked, false);
  }

  /** Called within a transaction; `nowMs` is the operation's only reading of the clock. */
  readonly #settle = ({ teamId, requestId, verdict, characters }: AskedResolution, nowMs: number): Resolution => {
    const { books, periods, ids } = this.#parts;
    const team = books.team(teamId);
    if (team === undefined) return { kind: 'absent' };
    periods.update(team, nowMs);
    const isCommit = verdict === 'commit';
    const held = ids.resolve(team, requestId, isCommit ? COMMITTED : RELEASED, nowMs);
    if (held === undefined) return this.#settleClosed(team, requestId, verdict, nowMs);
    const { counts } = team;
    counts.heldMicro -= held.priceMicro;
    // The counts of a past period are final; its holds are no longer in the team's counters.
    const isCurrent = held.periodNo === counts.periodNo;
    if (isCurrent) counts.heldCharacters -= held.characters;
    // The key of a reservation always exists.
    const key = books.key(team, held.key)!;
    if (key.guard !== undefined) books.hold(key, -held.characters, held.periodNo);
    if (isCommit) this.#charge(key, characters === undefined ? held : partOf(held, characters), isCurrent, nowMs);
    books.touch(team);
    return { kind: isCommit ? 'committed' : 'released' };
  };

  #charge(key: KeyBooks, { characters, priceMicro, periodNo }: Held, isCurrent: boolean, nowMs: number): void {
    const { books, periods, events } = this.#parts;
    const { team, counts } = key;
    team.counts.balanceMicro -= priceMicro;
    if (isCurrent) team.counts.usedCharacters += characters;
    // A key's row counts a single period: counts of an earlier one are first moved to `usage`.
    if (periodNo > counts.periodNo) {
      if (counts.requests > 0) this.#sql.addUsage.run(key.no, counts.characters, counts.requests, team.no, counts.periodNo);
      Object.assign(counts, { periodNo, characters: 0, requests: 0 });
    }
    if (periodNo < counts.periodNo) this.#sql.addUsage.run(key.no, characters, 1, team.no, periodNo);
    else {
      counts.characters += characters;
      counts.requests++;
    }
    periods.countDay(key, characters, nowMs);
    books.touchKey(key);
    events?.charged(team, priceMicro, nowMs);
  }

  #settleClosed(team: TeamBooks, requestId: string, verdict: Verdict, nowMs: number): Resolution {
    const { ids } = this.#parts;
    const known = ids.find(team.no, requestId, nowMs);
    if (known !== undefined) return { kind: wordOf(known.state) };
    if (verdict === 'commit') return { kind: 'absent' };
    ids.add(team, requestId, undefined, nowMs + REMEMBER_MS, nowMs, true);
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
