// All that an admission needs to know of its team, key, id and place, read in one statement.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { AdmissionRequest } from '../../ports/ledger.ts';
import { DUE_COLUMNS } from './catch-up.ts';
import type { CatchUp, DueColumns } from './catch-up.ts';

export interface AdmissionAccount {
  readonly team: number;
  readonly periodNo: number;
  readonly periodEndMs: number;
  /** How the request's id stands; null when it is not known. */
  readonly state: number | null;
  readonly untilMs: number;
  readonly reservedCharacters: number;
  /** Null when the team has no such key. */
  readonly key: number | null;
  readonly revokedAtMs: number | null;
  readonly lastUsedAtMs: number | null;
  readonly requestsPerSecond: number;
  readonly placeNext: number;
  readonly placeNewestMs: number | null;
  readonly placeDecisiveMs: number | null;
  readonly maxCharacters: number;
  readonly billing: 'quota' | 'credit';
  readonly characterLimit: number;
  readonly overageCharacters: number;
  readonly overageCapMinor: number;
  readonly minorPerMillion: number;
  readonly currency: string;
  readonly balanceMicro: number;
  readonly heldMicro: number;
  readonly usedCharacters: number;
  readonly heldCharacters: number;
}

/** In the order of the query's columns. */
type Row = [
  ...due: DueColumns,
  state: number | null,
  untilMs: number,
  reservedCharacters: number,
  key: number | null,
  revokedAtMs: number | null,
  lastUsedAtMs: number | null,
  requestsPerSecond: number,
  placeNext: number,
  placeNewestMs: number | null,
  placeDecisiveMs: number | null,
  maxCharacters: number,
  billing: 'quota' | 'credit',
  characterLimit: number,
  overageCharacters: number,
  overageCapMinor: number,
  minorPerMillion: number,
  currency: string,
  balanceMicro: number,
  heldMicro: number,
  periodNo: number,
  usedCharacters: number,
  heldCharacters: number,
];

const READ = `SELECT ${DUE_COLUMNS},
  o.state, o.until_ms, o.characters,
  k.no, k.revoked_at_ms, k.last_used_at_ms,
  t.requests_per_second, t.place_next, t.place_newest_ms, p.at_ms,
  t.max_characters_per_request, t.billing, t.character_limit, t.overage_characters, t.overage_cap_minor,
  t.minor_per_million, t.currency,
  t.balance_micro, t.held_micro, t.period_no, t.used_characters, t.held_characters
FROM teams t
LEFT JOIN operations o ON o.request_id = ? AND o.team = t.no
LEFT JOIN keys k ON k.key_id = ? AND k.team = t.no
LEFT JOIN places p ON p.team = t.no AND p.seq = t.place_next - t.requests_per_second
WHERE t.team_id = ?`;

export class AdmissionAccounts {
  readonly #catchUp: CatchUp;
  readonly #read: StatementSync;

  constructor(database: DatabaseSync, catchUp: CatchUp) {
    this.#catchUp = catchUp;
    this.#read = database.prepare(READ);
    // The driver's own row objects cost more than the query at this width (measured: 6 microseconds against 2).
    this.#read.setReturnArrays(true);
  }

  /** The account as it stands now; `undefined` when there is no such team. */
  of(request: AdmissionRequest, nowMs: number): AdmissionAccount | undefined {
    let row = this.#row(request, nowMs);
    if (row === undefined) return undefined;
    if (this.#catchUp.run([row[0], row[1], row[2]], nowMs)) row = this.#row(request, nowMs)!;
    return named(row);
  }

  #row({ requestId, keyId, teamId }: AdmissionRequest, nowMs: number): Row | undefined {
    return this.#read.get(nowMs, requestId, keyId, teamId) as unknown as Row | undefined;
  }
}

function named(row: Row): AdmissionAccount {
  return {
    team: row[0],
    periodEndMs: row[1],
    state: row[3],
    untilMs: row[4],
    reservedCharacters: row[5],
    key: row[6],
    revokedAtMs: row[7],
    lastUsedAtMs: row[8],
    requestsPerSecond: row[9],
    placeNext: row[10],
    placeNewestMs: row[11],
    placeDecisiveMs: row[12],
    maxCharacters: row[13],
    billing: row[14],
    characterLimit: row[15],
    overageCharacters: row[16],
    overageCapMinor: row[17],
    minorPerMillion: row[18],
    currency: row[19],
    balanceMicro: row[20],
    heldMicro: row[21],
    periodNo: row[22],
    usedCharacters: row[23],
    heldCharacters: row[24],
  };
}
