// An account in memory, for tests of its rules: what a store's driver does in a transaction, over maps.
import { Account } from '../../../src/ledger/account.ts';
import type { AccountCounts, AccountRows, HeldReservation, KeyCharge } from '../../../src/ledger/account.ts';
import { Slots } from '../../../src/ledger/rate.ts';
import type { TagTable } from '../../../src/ledger/tag-account.ts';
import type { TeamLimits } from '../../../src/domain/plan.ts';
import type { KeyRecord, Team } from '../../../src/ports/team-registry.ts';

export const START = Date.parse('2026-11-24T10:30:30Z');
export const TEAM = '01JD0000000000000000000000';

const LIMITS: TeamLimits = {
  billing: 'quota',
  requestsPerSecond: 2,
  maxCharactersPerRequest: 100,
  maxGlossaries: 1,
  characterLimit: 200,
  overageCharacters: 0,
  overageCapMinor: 0,
  minorPerMillion: 0,
  testAllowance: 0,
  currency: 'EUR',
  period: 'P1M',
  windows: '',
};

export interface MemoryAccount {
  readonly account: Account;
  readonly rows: MemoryRows;
}

class MemoryRows implements AccountRows {
  readonly keys = new Map<string, KeyRecord>();
  readonly charges: KeyCharge[] = [];
  readonly periods: { readonly number: number; readonly startMs: number; readonly endMs: number }[] = [];
  readonly changes: Team[] = [];
  readonly texts = new Map<string, string>();
  readonly glossaries = new Map<string, { sourceLang: string; targetLang: string; dictionaryId: string }[]>();

  key(keyId: string) {
    const record = this.keys.get(keyId);
    const use = { lastUsedAtMs: undefined, period: 0, characters: 0, requests: 0, slots: new Slots() };
    return record && { record, use };
  }

  windowCounts(): undefined {
    return undefined;
  }

  open(_requestId: string, _held: HeldReservation): void {}

  close(_requestId: string): void {}

  charge(charge: KeyCharge): void {
    this.charges.push(charge);
  }

  pairs(glossaryId: string) {
    return this.glossaries.get(glossaryId);
  }

  readonly tags = {
    get: (table: TagTable, name: string): string | undefined => this.texts.get(`${table} ${name}`),
    put: (table: TagTable, name: string, value: string): void => void this.texts.set(`${table} ${name}`, value),
    count: (): number => [...this.texts.keys()].filter((name) => name.startsWith('tag_counts ')).length,
  };

  endPeriod(_team: Team, number: number, endMs: number): void {
    const [last] = this.periods.splice(-1);
    this.periods.push({ ...last!, number, endMs });
  }

  beginPeriod(period: AccountCounts['period']): void {
    this.periods.push(period);
  }

  planTookEffect(_before: Team, after: Team): void {
    this.changes.push(after);
  }
}

/** A team that was created at `START`. */
export function openAccount(limits: Partial<TeamLimits> = {}, team: Partial<Team> = {}): MemoryAccount {
  const rows = new MemoryRows();
  const period = { number: 0, startMs: START, endMs: START, anchorMs: START };
  const { balanceMicro = 0 } = team;
  const record: Team = {
    teamId: TEAM,
    name: 'acme',
    plan: 'pro',
    limits: { ...LIMITS, ...limits },
    createdAtMs: START,
    ...team,
    balanceMicro,
  };
  const counts = { balanceMicro, period, used: 0, allowanceUsed: 0, slots: new Slots() };
  const account = new Account(record, counts, new Map(), rows);
  account.beginPeriodNow(START);
  return { account, rows };
}

export function addKey({ rows }: MemoryAccount, keyId: string, key: Partial<KeyRecord> = {}): string {
  const record = { keyId, teamId: TEAM, display: 'lg_live_0000', label: '', mode: 'live', status: 'active', limits: {}, ...key } as const;
  rows.keys.set(keyId, { ...record, createdAtMs: START, lastUsedAtMs: undefined });
  return keyId;
}
