// Entries of the audit: who changed what, how two states of a team differ, and what is left of an entry without names.
import type { KeyMode } from './api-key.ts';
import type { KeyLimits } from './key-limits.ts';
import type { Micro } from './money.ts';
import type { TeamLimits } from './plan.ts';

/** Operations by the names that the admin API's routes have, whichever front was used; `clearMemory` is the command line's alone. */
export type AuditAction =
  | 'createTeam'
  | 'updateTeam'
  | 'applyPlan'
  | 'deleteTeam'
  | 'createKey'
  | 'updateKey'
  | 'revokeKey'
  | 'deleteGlossary'
  | 'clearMemory';

/** Given to a change: the operation that makes it keeps an entry with it, and none if it changes nothing. */
export interface Audited {
  /** `cli:USER@HOST`, `admin:NAME@ADDRESS` or `console:NAME@ADDRESS`. */
  readonly actor: string;
  readonly action: AuditAction;
  /** Why, in the operator's words. */
  readonly reason?: string;
}

/** What of a team the audit tells. */
interface AuditedTeam {
  readonly name: string;
  readonly plan: string;
  readonly limits: TeamLimits;
  readonly balanceMicro: Micro;
}

/** What of a key it tells: what lists show of it. */
interface AuditedKey {
  /** Its first twelve characters. */
  readonly display: string;
  readonly label: string;
  readonly mode: KeyMode;
}

/** What of a glossary it tells, beside its name. */
interface AuditedGlossary {
  readonly glossaryId: string;
}

/** Members of a team, a key or a glossary that a change was about. Never a secret. */
export interface AuditState extends Partial<AuditedTeam>, Partial<AuditedKey>, KeyLimits, Partial<AuditedGlossary> {
  readonly status?: 'active' | 'revoked' | 'disabled';
}

export interface AuditEntry extends Audited {
  /** Of `AUDIT_ID`'s form; later entries have greater ones. */
  readonly id: string;
  /** By the store's clock. */
  readonly atMs: number;
  readonly teamId: string | undefined;
  readonly keyId: string | undefined;
  /** Only what differs; nothing of what was made anew. */
  readonly before: AuditState;
  /** Only what differs; nothing of what is gone. */
  readonly after: AuditState;
}

/** What of an entry stores keep as JSON, beside the id and the team. */
export type AuditRecord = Omit<AuditEntry, 'id' | 'atMs' | 'teamId'>;

export interface AuditDifference {
  readonly before: AuditState;
  readonly after: AuditState;
}

/** `undefined` where nothing differs. A team that was made now has no `before`. */
export function teamDifference(before: AuditedTeam | undefined, after: AuditedTeam): AuditDifference | undefined {
  if (before === undefined) return { before: {}, after: stateOf(after) };
  const changed = CHANGING.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  if (changed.length === 0) return undefined;
  const only = (team: AuditedTeam): AuditState => Object.fromEntries(changed.map((name) => [name, team[name]]));
  return { before: only(before), after: only(after) };
}

const CHANGING = ['name', 'plan', 'limits', 'balanceMicro'] as const;

function stateOf({ name, plan, limits, balanceMicro }: AuditedTeam): AuditState {
  return { name, plan, limits, ...(limits.billing === 'credit' ? { balanceMicro } : {}) };
}

export function newKeyDifference({ display, label, mode, limits = {} }: AuditedKey & { readonly limits?: KeyLimits }): AuditDifference {
  return { before: {}, after: { display, label, mode, status: 'active', ...limits } };
}

/** What of a key can be changed; limits that it does not have are absent. */
export interface ChangeableKey extends KeyLimits {
  readonly label: string;
  readonly status: 'active' | 'revoked' | 'disabled';
}

/** `undefined` where nothing differs. */
export function keyDifference(before: ChangeableKey, after: ChangeableKey): AuditDifference | undefined {
  const changed = CHANGING_OF_KEYS.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  if (changed.length === 0) return undefined;
  const only = (key: ChangeableKey): AuditState =>
    Object.fromEntries(changed.filter((name) => key[name] !== undefined).map((name) => [name, key[name]]));
  return { before: only(before), after: only(after) };
}

const CHANGING_OF_KEYS = ['label', 'status', 'expiresAtMs', 'requestsPerSecond', 'characters', 'allowedAddresses'] as const;

export const REVOCATION: AuditDifference = { before: { status: 'active' }, after: { status: 'revoked' } };

export function glossaryRemoval({ glossaryId, name }: AuditedGlossary & Pick<AuditedTeam, 'name'>): AuditDifference {
  return { before: { glossaryId, name }, after: {} };
}

export function withoutNames({ reason: _reason, ...record }: AuditRecord): AuditRecord {
  return { ...record, before: namelessState(record.before), after: namelessState(record.after) };
}

/** Addresses may be a person's. */
function namelessState({ name: _name, label: _label, display: _display, allowedAddresses: _addresses, ...state }: AuditState): AuditState {
  return state;
}

export const AUDIT_ID = /^\d{31}$/;
const AT_DIGITS = 15;
const SERIAL_DIGITS = 16;

/** `serial` tells the entries of one millisecond apart. */
export function auditId(atMs: number, serial: number): string {
  return String(Math.floor(atMs)).padStart(AT_DIGITS, '0') + String(serial).padStart(SERIAL_DIGITS, '0');
}

export function momentOf(id: string): number {
  return Number(id.slice(0, AT_DIGITS));
}

/** Less than every id of this moment and of those after it. */
export function idBefore(atMs: number): string {
  return auditId(Math.max(0, atMs), 0);
}

/** The id of an entry made at this moment: behind `last`, the greatest that is not of a later one. */
export function nextId(atMs: number, last: string | undefined): string {
  const isOfNow = last !== undefined && momentOf(last) === Math.floor(atMs);
  return auditId(atMs, isOfNow ? Number(last.slice(AT_DIGITS)) + 1 : 1);
}
