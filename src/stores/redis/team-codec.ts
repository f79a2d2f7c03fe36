// The encoding of teams, keys and their counts in Redis: hashes of texts, and of bytes for what the ledger reads.
import type { KeyMode } from '../../domain/api-key.ts';
import type { Audited } from '../../domain/audit-entry.ts';
import { keyStatus } from '../../domain/key-limits.ts';
import type { TeamLimits } from '../../domain/plan.ts';
import type { GroupPeriod } from '../../ports/record-space.ts';
import type { KeyRecord, KeyUsage, NewKey, NewTeam, Standing, Team, TeamChange, Usage } from '../../ports/team-registry.ts';
import { readKeyLimits } from './key-layout.ts';
import { packNextPlan, readNextPlan } from './next-plan-codec.ts';
import { withWindowUses } from '../../ledger/counter.ts';
import { readWindowCounts } from './window-layout.ts';
import { BOOKS, DESCRIPTION, packPlan, readAllowance, readKeyState, readPlan, TEAM_FIELDS } from './team-layout.ts';
import type { KeyState } from './team-layout.ts';

/** A hash: names and values. */
type RawFields = ReadonlyMap<string, Buffer>;

/** Names and values, as the functions take them. */
export function newTeamFields(team: NewTeam): (string | Buffer)[] {
  const { name, reference, plan, limits } = team;
  return ['name', name, ...(reference === undefined ? [] : ['reference', reference]), ...planFields(plan, limits)];
}

/** An empty reference or next plan removes it. */
export function changedTeamFields({ name, reference, plan, nextPlan }: TeamChange, by?: Audited): (string | Buffer)[] {
  const named: (string | Buffer)[] = [
    ...(name === undefined ? [] : ['name', name]),
    ...(reference === undefined ? [] : ['reference', reference ?? '']),
  ];
  if (nextPlan !== undefined)
    named.push('next', nextPlan === null ? '' : packNextPlan({ ...nextPlan, ...(by === undefined ? {} : { by }) }));
  return plan === undefined ? named : [...named, ...planFields(plan.name, plan.limits)];
}

/** The current period, from the same values. */
export function describedPeriod(values: unknown): GroupPeriod {
  const { number, startMs, endMs } = BOOKS.read((values as readonly Buffer[])[TEAM_FIELDS.indexOf('b')]!);
  return { number, startMs, endMs };
}

function planFields(plan: string, limits: TeamLimits): (string | Buffer)[] {
  return ['plan', plan, 'currency', limits.currency, 'period', limits.period, 'p', packPlan(limits)];
}

/** `values` are those of `DESCRIPTION`; older records end before the last of them. */
export function readTeam(teamId: string, values: unknown): Team {
  const [name, plan, created, period, currency, numbers, books, reference, next] = values as readonly (Buffer | null | undefined)[];
  if (!numbers || !books) throw new Error("a team's record is incomplete");
  return {
    teamId,
    name: String(name),
    // In an event, a text that is missing is empty.
    ...(reference && reference.length > 0 ? { reference: String(reference) } : {}),
    plan: String(plan),
    limits: { ...readPlan(numbers), currency: String(currency), period: String(period) },
    balanceMicro: BOOKS.read(books).balanceMicro,
    createdAtMs: Number(String(created)),
    ...(next && next.length > 0 ? { nextPlan: readNextPlan(next) } : {}),
  };
}

/** The record of a new key, without its order. The digest finds the key's index when the team is deleted. */
export function newRecord({ display, label, mode, digest }: Omit<NewKey, 'limits'>, createdAtMs: number): string {
  return `${createdAtMs} ${JSON.stringify({ display, label, mode, digest })}`;
}

export function changedRecord(record: string, label: string): string {
  return record.slice(0, record.indexOf('{')) + JSON.stringify({ ...jsonOf(record), label });
}

/** The digest in a key's record; those of deleted teams whose usage was kept have none. */
export function digestOfRecord(record: string): string | undefined {
  const { digest } = jsonOf(record);
  return typeof digest === 'string' ? digest : undefined;
}

/** A key's fields in the team's record. */
interface KeyFields {
  readonly state: Buffer | undefined;
  /** `undefined` or empty for a key without limits. */
  readonly packedLimits: Buffer | undefined;
}

/** From the fields of a team's record. */
export function keyFields(fields: RawFields, keyId: string): KeyFields {
  return { state: fields.get(`k${keyId}`), packedLimits: fields.get(`l:${keyId}`) };
}

/** By a key's record. */
export function isTestKey(record: Buffer | undefined): boolean {
  return record !== undefined && jsonOf(String(record)).mode === 'test';
}

/** `record` is `<order> <created> <JSON>`; `nowMs` decides whether the key has expired. */
export function readKey(
  ids: { readonly keyId: string; readonly teamId: string },
  record: string,
  { state, packedLimits }: KeyFields,
  nowMs: number,
): KeyRecord {
  const [, createdAtMs = ''] = /^\d+ (\d+) /.exec(record) ?? [];
  const { display, label, mode } = jsonOf(record);
  const { word, lastUsedAtMs } = stateOf(state);
  const { disabled, limits } = readKeyLimits(packedLimits);
  const status = word === 'revoked' ? word : keyStatus(disabled, limits, nowMs);
  return { keyId: ids.keyId, teamId: ids.teamId, display, label, mode, status, limits, createdAtMs: Number(createdAtMs), lastUsedAtMs };
}

/** The first brace of a record starts its JSON. */
function jsonOf(record: string) {
  return JSON.parse(record.slice(record.indexOf('{'))) as { display: string; label: string; mode: KeyMode; digest?: unknown };
}

/** A key without a state does not work. */
export function stateOf(state: Buffer | undefined): KeyState {
  return state === undefined
    ? { word: 'revoked', lastUsedAtMs: undefined, number: 0, characters: 0, requests: 0, day: 0 }
    : readKeyState(state);
}

/** The result of the usage function. */
export interface Report {
  readonly usage: Usage;
  readonly keys: readonly KeyRecord[];
}

export function readReport(teamId: string, values: readonly unknown[], nowMs: number): Report {
  const [fields, records] = [fieldsOf(values[0]), fieldsOf(values[1])];
  const team = readTeam(
    teamId,
    DESCRIPTION.map((name) => fields.get(name)),
  );
  const { number, startMs, endMs, usedCharacters: characters } = BOOKS.read(fields.get('b')!);
  const { allowanceUsed } = readAllowance(fields.get('allowance'), number);
  const keys = keysInOrder(teamId, records, fields, nowMs);
  const counted: KeyUsage[] = keys.map((key) => ({ ...key, ...countsIn(number, stateOf(fields.get(`k${key.keyId}`))) }));
  const usage: Usage = { team, periodStartMs: startMs, periodEndMs: endMs, characters, allowanceUsed, keys: counted };
  const windowCounts = readWindowCounts(fields);
  return { usage: withWindowUses(usage, (subject) => windowCounts.get(subject), nowMs), keys };
}

/** A team's keys, from the hash of their records and the team's record. */
export function keysInOrder(teamId: string, records: RawFields, fields: RawFields, nowMs: number): KeyRecord[] {
  return [...records]
    .map(([keyId, record]) => [keyId, String(record)] as const)
    .toSorted(([, a], [, b]) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
    .map(([keyId, record]) => readKey({ keyId, teamId }, record, keyFields(fields, keyId), nowMs));
}

/** A key that was not used in the period still has the counts of an earlier one. */
export function countsIn(period: number, { number, characters, requests }: KeyState): Pick<KeyUsage, 'characters' | 'requests'> {
  return number === period ? { characters, requests } : { characters: 0, requests: 0 };
}

export function readStanding(values: readonly unknown[]): Standing {
  const numbers = values.map((value) => Number(String(value)));
  const [usedCharacters, heldCharacters, allowanceUsed, allowanceHeld, balanceMicro, heldMicro, openReservations] = numbers;
  return { usedCharacters, heldCharacters, allowanceUsed, allowanceHeld, balanceMicro, heldMicro, openReservations } as Standing;
}

/** Converts a hash from Redis, which is a list of alternating names and values. */
export function fieldsOf(reply: unknown): RawFields {
  const flat = reply as readonly Buffer[];
  const fields = new Map<string, Buffer>();
  for (let i = 0; i + 1 < flat.length; i += 2) fields.set(String(flat[i]), flat[i + 1]!);
  return fields;
}
