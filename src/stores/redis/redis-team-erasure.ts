// Deletes teams: first, in one operation, what makes a team one; then everything else, in pieces, until nothing is left but, if that was
// asked for, its usage without names. The janitor goes on with what was interrupted.
import type { Audited } from '../../domain/audit-entry.ts';
import { answered, answering } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import { keySubject, tagSubject } from '../../domain/window-limits.ts';
import type { IdempotencyRecords } from '../../ports/idempotency-records.ts';
import type { RecordSpace } from '../../ports/record-space.ts';
import type { TeamDeletion } from '../../ports/team-registry.ts';
import type { Micro } from '../../domain/money.ts';
import type { TeamLimits } from '../../domain/plan.ts';
import { forgetTeam } from '../records/over-records.ts';
import { deletionEvent } from '../records/event-record.ts';
import type { RecordAudit } from '../records/record-audit.ts';
import { RECORD_TABLES } from '../records/record-tables.ts';
import type { Postbox } from './postbox.ts';
import { blobOf, digestKey, groupKey, OF_TEAM, ownerKey, slotsOf, tableOf } from './redis-keys.ts';
import { chargesOf, deletedTeam, endedOf } from './redis-usage.ts';
import { openAccount } from './team-accounts.ts';
import type { TeamAccounts } from './team-accounts.ts';
import { FIELD, fieldsWith, keyText, readBalance, readKey } from './team-fields.ts';
import type { TeamIndex } from './team-index.ts';

/** What is left of a team in its hash. */
export interface DeletedTeam {
  readonly teamId: string;
  readonly keepUsage: boolean;
  readonly createdAtMs: number;
  /** What was left of its credit. */
  readonly balanceMicro: Micro;
  readonly plan: string;
  readonly limits: TeamLimits;
  /** Only the usage is left. */
  readonly erased?: true;
}

export interface ErasureParts {
  readonly accounts: TeamAccounts;
  readonly index: TeamIndex;
  readonly audit: RecordAudit;
  readonly postbox: Postbox;
  readonly records: RecordSpace;
  readonly idempotency: IdempotencyRecords;
}

/** Keys and fields that are deleted at a time. */
const PIECE = 200;

export class RedisTeamErasure {
  readonly #parts: ErasureParts;

  constructor(parts: ErasureParts) {
    this.#parts = parts;
  }

  delete(teamId: string, { keepUsage }: TeamDeletion, by?: Audited): Promise<boolean | StoreUnavailable> {
    return answering(async () => {
      const begun = await this.#begin(teamId, keepUsage, by);
      if (begun) await this.erase(teamId);
      return begun;
    });
  }

  /** From then on the team does not exist. False if there is nothing to delete. */
  #begin(teamId: string, keepUsage: boolean, by: Audited | undefined): Promise<boolean> {
    return this.#parts.accounts.decide(teamId, (draft, rows, nowMs) => {
      const account = openAccount(draft, rows);
      draft.get(FIELD.team);
      const put = (left: DeletedTeam): void => draft.put(FIELD.deleted, JSON.stringify(left));
      if (account === undefined) {
        draft.get(FIELD.deleted);
        const left = deletedTeam(draft.read);
        if (left === undefined || keepUsage) return left !== undefined && left.erased !== true;
        rows.report(by, { before: { plan: left.plan }, after: {} });
        put({ ...left, keepUsage, erased: undefined });
        return true;
      }
      account.catchUp(nowMs);
      const { plan, limits, createdAtMs } = account.team;
      rows.report(by, { before: { plan }, after: {} }, deletionEvent(teamId));
      account.endPeriodNow(nowMs);
      // The balance is read again once nothing can be charged: each admission changes it.
      put({ teamId, keepUsage, createdAtMs, balanceMicro: account.counts.balanceMicro, plan, limits });
      for (const field of [FIELD.team, FIELD.period]) draft.remove(field);
      return true;
    });
  }

  /** Whatever is left to erase of a team whose deletion has begun. */
  async erase(teamId: string): Promise<void> {
    const { accounts, index, postbox } = this.#parts;
    const { groups } = accounts;
    const { link } = groups;
    const base = groupKey(teamId);
    const { read } = await accounts.read(teamId);
    const deleted = deletedTeam(read);
    // Another process has completed it meanwhile.
    if (deleted === undefined) return;
    const { keepUsage } = deleted;
    const keys = fieldsWith(read, FIELD.key('')).map(([, text]) => readKey(text));
    // Outside of its slot first: whoever goes on after an interruption finds the keys in the hash.
    const indexes = keys.flatMap(({ record, digest }) => [ownerKey(record.keyId), ...(digest === undefined ? [] : [digestKey(digest)])]);
    await inPieces(indexes, (some) => link.ask((redis) => Promise.all(some.map((key) => redis.unlink(key)))));
    await postbox.empty(teamId);
    answered(await forgetTeam(teamId, keepUsage, this.#parts));
    const charges = keepUsage ? await chargesOf(groups, teamId) : [];
    const ended = keepUsage ? await endedOf(groups, teamId) : [];
    const keeps = charges.length > 0 || ended.some(({ addedMicro, deductedMicro }) => addedMicro + deductedMicro > 0);
    const blobs = await link.ask((redis) => redis.hkeys(base + OF_TEAM.blobs));
    const tags = fieldsWith(read, FIELD.tag('')).map(([tag]) => tagSubject(tag));
    const counted = fieldsWith(read, FIELD.windows('')).map(([subject]) => subject);
    const subjects = new Set(['team', ...keys.map(({ record }) => keySubject(record.keyId)), ...tags, ...counted]);
    const names = [
      ...RECORD_TABLES.map(tableOf),
      ...blobs.map(blobOf),
      ...[...subjects].map(slotsOf),
      OF_TEAM.blobs,
      ...(keeps ? [] : [OF_TEAM.days, OF_TEAM.periods, OF_TEAM.outgoing, '']),
    ];
    await inPieces(names, (some) => link.ask((redis) => redis.unlink(...some.map((name) => base + name))));
    if (keeps) await this.#keepUsage(deleted, read, new Set(charges.map(({ keyId }) => keyId)));
    else await index.remove(teamId);
  }

  /** Of the team's hash stay that it was deleted, and the keys that have used anything, without names. */
  async #keepUsage(deleted: DeletedTeam, read: ReadonlyMap<string, string>, used: ReadonlySet<string>): Promise<void> {
    const { link } = this.#parts.accounts.groups;
    const base = groupKey(deleted.teamId);
    const balance = read.get(FIELD.balance);
    const left = balance === undefined ? deleted : { ...deleted, balanceMicro: readBalance(balance).micro };
    const keys = fieldsWith(read, FIELD.key('')).filter(([keyId]) => used.has(keyId));
    const staying = new Map([
      [FIELD.deleted, JSON.stringify(left)],
      ...keys.map(([keyId, text]) => [FIELD.key(keyId), nameless(text)] as const),
    ]);
    // First what stays: whoever goes on after an interruption finds no balance any more.
    await inPieces([...staying], (some) => link.ask((redis) => redis.hset(base, ...some.flat())));
    const gone = [...read.keys()].filter((field) => !staying.has(field));
    await inPieces(gone, (some) => link.ask((redis) => redis.hdel(base, ...some)));
    await link.ask((redis) => redis.hset(base, FIELD.deleted, JSON.stringify({ ...left, erased: true } satisfies DeletedTeam)));
  }
}

async function inPieces<T>(all: readonly T[], work: (some: readonly T[]) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < all.length; at += PIECE) await work(all.slice(at, at + PIECE));
}

function nameless(text: string): string {
  const { record, order } = readKey(text);
  return keyText({ record: { ...record, label: '', display: '', limits: {}, status: 'revoked' }, digest: undefined, order });
}
