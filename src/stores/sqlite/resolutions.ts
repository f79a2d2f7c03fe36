// The resolution of a reservation: committed or released once; whoever comes again is told how the id stands.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { REMEMBER_MS } from '../../domain/reservation.ts';
import type { Resolution, Verdict } from '../../ports/ledger.ts';
import { DUE_COLUMNS } from './catch-up.ts';
import type { CatchUp, DueColumns } from './catch-up.ts';
import type { Remembrance } from './remembrance.ts';
import { COMMITTED, EXPIRED, OPEN, RELEASED } from './schema.ts';

/** In the order of the query's columns; arrays for the same reason as in the admission. */
type Row = [
  ...due: DueColumns,
  teamPeriodNo: number,
  state: number | null,
  untilMs: number,
  key: number,
  characters: number,
  priceMicro: number,
  periodNo: number,
];

const READ = `SELECT ${DUE_COLUMNS}, t.period_no,
  o.state, o.until_ms, o.key, o.characters, o.price_micro, o.period_no
FROM teams t LEFT JOIN operations o ON o.request_id = ? AND o.team = t.no
WHERE t.team_id = ?`;

export class Resolutions {
  readonly #catchUp: CatchUp;
  readonly #remembrance: Remembrance;
  readonly #read: StatementSync;
  readonly #close: StatementSync;
  readonly #updateTeam: StatementSync;
  readonly #count: StatementSync;

  constructor(database: DatabaseSync, catchUp: CatchUp, remembrance: Remembrance) {
    this.#catchUp = catchUp;
    this.#remembrance = remembrance;
    this.#read = database.prepare(READ);
    this.#read.setReturnArrays(true);
    this.#close = database.prepare('UPDATE operations SET state = ?, until_ms = ? WHERE request_id = ? AND team = ?');
    this.#updateTeam = database.prepare(`UPDATE teams SET held_characters = held_characters - ?, used_characters = used_characters + ?,
      held_micro = held_micro - ?, balance_micro = balance_micro - ? WHERE no = ?`);
    this.#count = database.prepare(`INSERT INTO usage (team, period_no, key, characters, requests) VALUES (?, ?, ?, ?, 1)
      ON CONFLICT (team, period_no, key) DO UPDATE SET characters = characters + excluded.characters, requests = requests + 1`);
  }

  /** To be run inside a transaction; `nowMs` is the operation's one reading of the clock. */
  resolve(teamId: string, requestId: string, verdict: Verdict, nowMs: number): Resolution {
    const row = this.#current(teamId, requestId, nowMs);
    if (row === undefined) return { kind: 'absent' };
    const [team, , , teamPeriodNo, state, untilMs, key, characters, priceMicro, periodNo] = row;
    if (state === null || nowMs >= untilMs) return this.#resolveUnknown(team, requestId, verdict, nowMs);
    if (state !== OPEN) return { kind: wordOf(state) };
    const charged = verdict === 'commit';
    // An ended period's counts are closed; what was held there is no longer in the team's counters.
    const current = periodNo === teamPeriodNo ? characters : 0;
    this.#close.run(charged ? COMMITTED : RELEASED, nowMs + REMEMBER_MS, requestId, team);
    this.#updateTeam.run(current, charged ? current : 0, priceMicro, charged ? priceMicro : 0, team);
    if (charged) this.#count.run(team, periodNo, key, characters);
    return { kind: charged ? 'committed' : 'released' };
  }

  #current(teamId: string, requestId: string, nowMs: number): Row | undefined {
    const row = this.#read.get(nowMs, requestId, teamId) as unknown as Row | undefined;
    if (row === undefined || !this.#catchUp.run([row[0], row[1], row[2]], nowMs)) return row;
    return this.#read.get(nowMs, requestId, teamId) as unknown as Row;
  }

  #resolveUnknown(team: number, requestId: string, verdict: Verdict, nowMs: number): Resolution {
    if (verdict === 'commit') return { kind: 'absent' };
    this.#remembrance.tick(nowMs);
    this.#remembrance.addReleased(team, requestId, nowMs);
    return { kind: 'released' };
  }
}

function wordOf(state: number): 'committed' | 'released' | 'expired' {
  if (state === COMMITTED) return 'committed';
  return state === EXPIRED ? 'expired' : 'released';
}
