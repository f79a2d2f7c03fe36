// Audit entries: who changed what, how two states differ, and how names are stripped from an entry.
import { isDeepStrictEqual } from 'node:util';
import type { KeyMode } from './api-key.ts';
import type { KeyLimits } from './key-limits.ts';
import type { Micro } from './money.ts';
import type { OperatorRole, SignInRefusal } from './operator.ts';
import type { TeamLimits } from './plan.ts';
import type { TagSettings } from './request-tag.ts';

/** Passed to a change, which writes an audit entry with it, unless it changes nothing. */
export interface Audited {
  /** `cli:USER@HOST`, `admin:NAME@ADDRESS` or `console:NAME@ADDRESS`. */
  readonly actor: string;
  /** An operation of the admin API, whichever interface was used, or one of `listAudit`. */
  readonly action: string;
  /** The operator's reason, in their own words. */
  readonly reason?: string;
}

/** The audited members of a team. */
interface AuditedTeam {
  readonly name: string;
  readonly reference?: string;
  readonly plan: string;
  readonly limits: TeamLimits;
  readonly balanceMicro: Micro;
  readonly nextPlan?: { readonly name: string; readonly limits: TeamLimits };
}

/** The audited members of a key: those that lists show. */
interface AuditedKey {
  /** Its first twelve characters. */
  readonly display: string;
  readonly label: string;
  readonly mode: KeyMode;
}

/** How someone came into the console, or why not. */
export interface AuditedSignIn {
  readonly via: 'token' | 'oidc';
  readonly role?: OperatorRole;
  /** Unique and unchanging at its provider, whatever the person's name becomes. */
  readonly subject?: string;
  readonly refused?: SignInRefusal;
}

/** The affected members of a team, key, glossary or tag, or of a sign-in. Never a secret. */
export interface AuditState extends Partial<AuditedTeam>, Partial<AuditedKey>, KeyLimits, Partial<AuditedSignIn> {
  readonly glossaryId?: string;
  readonly tag?: string;
  readonly status?: 'active' | 'revoked' | 'disabled';
}

export interface AuditEntry extends Audited {
  /** Matches `AUDIT_ID`; ids increase with time. */
  readonly id: string;
  /** By the store's clock. */
  readonly atMs: number;
  readonly teamId: string | undefined;
  readonly keyId: string | undefined;
  /** Only the members that differ; empty for something newly created. */
  readonly before: AuditState;
  /** Only the members that differ; empty for something deleted. */
  readonly after: AuditState;
}

/** The part of an entry that stores keep as JSON, besides the id and the team. */
export type AuditRecord = Omit<AuditEntry, 'id' | 'atMs' | 'teamId'>;

export interface AuditDifference {
  readonly before: AuditState;
  readonly after: AuditState;
}

/** What a change did, and to what. */
export interface AuditedChange extends AuditDifference {
  readonly teamId?: string;
  readonly keyId?: string;
}

/** The entry that the change stores with itself. `last`: the greatest id up to this moment. */
export function auditEntry({ actor, action, reason }: Audited, change: AuditedChange, nowMs: number, last: string | undefined): AuditEntry {
  const { teamId, keyId, before, after } = change;
  const id = nextId(nowMs, last);
  return { id, atMs: momentOf(id), teamId, actor, action, ...(reason === undefined ? {} : { reason }), keyId, before, after };
}

/** The members that differ, absent where a side has none; `undefined` if nothing differs. */
function difference(before: AuditState, after: AuditState): AuditDifference | undefined {
  const names = Object.keys({ ...before, ...after }) as (keyof AuditState)[];
  const changed = names.filter((name) => !isDeepStrictEqual(before[name], after[name]));
  const only = (state: AuditState): AuditState =>
    Object.fromEntries(changed.filter((name) => state[name] !== undefined).map((name) => [name, state[name]]));
  return changed.length === 0 ? undefined : { before: only(before), after: only(after) };
}

/** `before` is empty for a new team, of which only one with credit has a balance. */
export function teamDifference(before: AuditedTeam | undefined, after: AuditedTeam): AuditDifference | undefined {
  if (before !== undefined) return difference(teamState(before), teamState(after));
  const { balanceMicro, ...others } = teamState(after);
  return difference({}, after.limits.billing === 'credit' ? { ...others, balanceMicro } : others);
}

/** Without who ordered the waiting change: the entry of the order says that. */
function teamState({ name, reference, plan, limits, balanceMicro, nextPlan }: AuditedTeam): AuditState {
  return { name, reference, plan, limits, balanceMicro, nextPlan: nextPlan && { name: nextPlan.name, limits: nextPlan.limits } };
}

export function newKeyDifference({ display, label, mode, limits = {} }: AuditedKey & { readonly limits?: KeyLimits }): AuditDifference {
  return { before: {}, after: { display, label, mode, status: 'active', ...limits } };
}

/** A key as it is reported: expiry is no change. */
interface ReportedKey {
  readonly label: string;
  readonly status: 'active' | 'revoked' | 'disabled' | 'expired';
  readonly limits: KeyLimits;
}

export function keyDifference(before: ReportedKey, after: ReportedKey): AuditDifference | undefined {
  const state = ({ label, status, limits }: ReportedKey): AuditState => ({
    label,
    status: status === 'expired' ? 'active' : status,
    ...limits,
  });
  return difference(state(before), state(after));
}

export function glossaryRemoval({ glossaryId, name }: { readonly glossaryId: string; readonly name: string }): AuditDifference {
  return { before: { glossaryId, name }, after: {} };
}

/** A side without settings is `undefined`. Both sides name the tag. */
export function tagDifference(tag: string, before: TagSettings | undefined, after: TagSettings | undefined): AuditDifference | undefined {
  const state = (settings: TagSettings | undefined): AuditState => {
    const { disabled, ...limits } = settings ?? { disabled: false };
    return settings === undefined ? {} : { status: disabled ? 'disabled' : 'active', ...limits };
  };
  const changed = difference(state(before), state(after));
  return (
    changed && {
      before: before === undefined ? {} : { tag, ...changed.before },
      after: after === undefined ? {} : { tag, ...changed.after },
    }
  );
}

export function withoutNames({ reason: _reason, ...record }: AuditRecord): AuditRecord {
  return { ...record, before: namelessState(record.before), after: namelessState(record.after) };
}

/** Allowed addresses and tags are removed as well, because they may be personal data. */
function namelessState(whole: AuditState): AuditState {
  const { name: _name, reference: _reference, label: _label, display: _display, allowedAddresses: _addresses, tag: _tag, ...state } = whole;
  return state;
}

const AT_DIGITS = 15;
const SERIAL_DIGITS = 16;

/** `serial` distinguishes entries of the same millisecond. */
export function auditId(atMs: number, serial: number): string {
  return String(Math.floor(atMs)).padStart(AT_DIGITS, '0') + String(serial).padStart(SERIAL_DIGITS, '0');
}

/** Greater than the number of changes made in one millisecond. */
const ALONE_SERIAL = 1_000_000_000;

/**
 * Ids for entries that no change of the store writes; they increase even within a millisecond.
 * `random`, from 0 to below 1, keeps processes apart.
 */
export function auditIdsAlone(random: () => number = Math.random): (atMs: number) => string {
  let last = { atMs: -1, serial: 0 };
  return (atMs) => {
    const serial = atMs === last.atMs ? last.serial + 1 : ALONE_SERIAL + Math.floor(random() * ALONE_SERIAL);
    last = { atMs, serial };
    return auditId(atMs, serial);
  };
}

export function momentOf(id: string): number {
  return Number(id.slice(0, AT_DIGITS));
}

/** Sorts before every id from this moment on. */
export function idBefore(atMs: number): string {
  return auditId(Math.max(0, atMs), 0);
}

/** The id of a new entry: follows `last`, the greatest id that is not later than this moment. */
function nextId(atMs: number, last: string | undefined): string {
  const isOfNow = last !== undefined && momentOf(last) === Math.floor(atMs);
  return auditId(atMs, isOfNow ? Number(last.slice(AT_DIGITS)) + 1 : 1);
}
