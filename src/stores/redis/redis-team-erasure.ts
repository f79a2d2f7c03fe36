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
import { forgetTeam } from '../records/forget-team.ts';
import { deletionEvent } from '../records/event-record.ts';
import type { RecordAudit } from '../records/record-audit.ts';
import { RECORD_TABLES } from '../records/record-tables.ts';
import type { Postbox } from './postbox.ts';
import { blobOf, digestKey, ERASURES_KEY, groupKey, OF_TEAM, ownerKey, slotsOf, tableOf } from './redis-keys.ts';
import { openAccount, HashDraft, HashRows, UNSETTLED } from './team-accounts.ts';
import type { TeamAccounts } from './team-accounts.ts';
import { FIELD, idIn, keyText, readKey, readCharges } from './team-fields.ts';
import type { TeamIndex } from './team-index.ts';
import { storeErrorOf } from '../../domain/store-unavailable.ts';

/** What is left of a team in its hash: of an erasure that is not complete, or of kept usage. */
export interface DeletedTeam {
  readonly teamId: string;
  readonly keepUsage: boolean;
  readonly createdAtMs: number;
  /** What was left of its credit. */
  readonly balanceMicro: Micro;
  readonly plan: string;
  readonly limits: TeamLimits;
}

interface ErasureParts {
  readonly accounts: TeamAccounts;
  readonly index: TeamIndex;
  readonly audit: RecordAudit;
  readonly postbox: Postbox;
  readonly records: RecordSpace;
  readonly idempotency: IdempotencyRecords;
}

/** Keys and fields that are deleted at a time. */
const PIECE = 200;
const ATTEMPTS_MAX = 100;

export class RedisTeamErasure {
  readonly #parts: ErasureParts;

  constructor(parts: ErasureParts) {
    this.#parts = parts;
  }

  delete(teamId: string, { keepUsage }: TeamDeletion, by?: Audited): Promise<boolean | StoreUnavailable> {
    return answering(async () => {
      const { link } = this.#parts.accounts;
      await link.ask((redis) => redis.sadd(ERASURES_KEY, teamId));
      const begun = await this.#begin(teamId, keepUsage, by);
      if (begun) await this.#erase(teamId);
      else await link.ask((redis) => redis.srem(ERASURES_KEY, teamId));
      return begun;
    });
  }

  /** Goes on with all erasures that were interrupted. */
  async resume(): Promise<void> {
    const { link } = this.#parts.accounts;
    for (const teamId of await link.ask((redis) => redis.smembers(ERASURES_KEY))) {
      const isBegun = await link.ask((redis) => redis.hexists(groupKey(teamId), FIELD.deleted));
      if (isBegun === 1) await this.#erase(teamId);
      else await link.ask((redis) => redis.srem(ERASURES_KEY, teamId));
    }
  }

  /** From then on the team does not exist. False if there is nothing to delete. */
  async #begin(teamId: string, keepUsage: boolean, by: Audited | undefined): Promise<boolean> {
    const { accounts, postbox } = this.#parts;
    const serial = await postbox.serial(by);
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const [draft, nowMs] = await Promise.all([accounts.read(teamId), accounts.link.now()]);
      const rows = new HashRows(teamId, draft, nowMs, serial);
      const account = openAccount(draft, rows);
      const before = draft.get(FIELD.deleted);
      if (account === undefined && (before === undefined || keepUsage)) return before !== undefined && !isComplete(draft);
      draft.get(FIELD.team);
      if (account === undefined) {
        const known = JSON.parse(before!) as DeletedTeam;
        rows.report(by, { before: { plan: known.plan }, after: {} });
        draft.put(FIELD.deleted, JSON.stringify({ ...known, keepUsage } satisfies DeletedTeam));
      } else {
        account.catchUp(nowMs);
        const { plan, limits, createdAtMs } = account.team;
        rows.report(by, { before: { plan }, after: {} });
        rows.keepEvent(deletionEvent(teamId));
        account.endPeriodNow(nowMs);
        draft.put(
          FIELD.deleted,
          JSON.stringify({
            teamId,
            keepUsage,
            createdAtMs,
            balanceMicro: account.counts.balanceMicro,
            plan,
            limits,
          } satisfies DeletedTeam),
        );
        for (const field of [FIELD.team, FIELD.period]) draft.remove(field);
      }
      if (await accounts.write(teamId, draft, true)) return true;
    }
    throw storeErrorOf(UNSETTLED);
  }

  async #erase(teamId: string): Promise<void> {
    const { accounts, index, postbox } = this.#parts;
    const { link } = accounts;
    const base = groupKey(teamId);
    const { read } = await accounts.read(teamId);
    const { keepUsage } = JSON.parse(read.get(FIELD.deleted)!) as DeletedTeam;
    const keys = [...read].flatMap(([field, text]) => (idIn(field, 'key:') === undefined ? [] : readKey(text)));
    // Outside of its slot first: whoever goes on after an interruption finds the keys in the hash.
    const indexes = keys.flatMap(({ record, digest }) => [ownerKey(record.keyId), ...(digest === undefined ? [] : [digestKey(digest)])]);
    for (let at = 0; at < indexes.length; at += PIECE) {
      await link.ask((redis) => Promise.all(indexes.slice(at, at + PIECE).map((key) => redis.unlink(key))));
    }
    await postbox.empty(teamId);
    answered((await forgetTeam(teamId, keepUsage, this.#parts)) ?? true);
    const blobs = await link.ask((redis) => redis.hkeys(base + OF_TEAM.blobs));
    const tags = [...read.keys()].flatMap((field) => idIn(field, 'tag:') ?? /^count:tag:(.*):windows$/.exec(field)?.[1] ?? []);
    const names = [
      ...RECORD_TABLES.map(tableOf),
      ...blobs.map(blobOf),
      slotsOf('team'),
      ...keys.map(({ record }) => slotsOf(keySubject(record.keyId))),
      ...tags.map((tag) => slotsOf(tagSubject(tag))),
    ];
    for (let at = 0; at < names.length; at += PIECE) {
      await link.ask((redis) => redis.unlink(...names.slice(at, at + PIECE).map((name) => base + name)));
    }
    await link.ask((redis) => redis.unlink(base + OF_TEAM.blobs));
    if (keepUsage) await this.#keepUsage(teamId, read);
    else {
      for (const name of [OF_TEAM.days, OF_TEAM.periods, OF_TEAM.outgoing]) await link.ask((redis) => redis.unlink(base + name));
      await index.remove(teamId);
      await link.ask((redis) => redis.unlink(base));
    }
    await link.ask((redis) => redis.srem(ERASURES_KEY, teamId));
  }

  /** Of the team's hash stay that it was deleted, and the keys that have used anything, without names. */
  async #keepUsage(teamId: string, read: ReadonlyMap<string, string>): Promise<void> {
    const { link } = this.#parts.accounts;
    const base = groupKey(teamId);
    const charges = readCharges(await link.ask((redis) => redis.hgetall(base + OF_TEAM.days)));
    const used = new Set(charges.map(({ keyId }) => keyId));
    if (used.size === 0 && !(await this.#hasMovedCredit(teamId))) {
      await link.ask((redis) => redis.unlink(base + OF_TEAM.periods));
      await this.#parts.index.remove(teamId);
      await link.ask((redis) => redis.unlink(base));
      return;
    }
    const draft = new HashDraft(read);
    for (const [field, text] of read) {
      const keyId = idIn(field, 'key:');
      if (keyId !== undefined && used.has(keyId)) draft.put(field, nameless(text));
      else if (field !== FIELD.deleted) draft.remove(field);
    }
    const gone = draft.writes.flatMap(([command, , ...fields]) => (command === 'HDEL' ? fields : []));
    const kept = draft.writes.flatMap(([command, , ...fields]) => (command === 'HSET' ? fields : []));
    for (let at = 0; at < gone.length; at += PIECE) await link.ask((redis) => redis.hdel(base, ...gone.slice(at, at + PIECE)));
    if (kept.length > 0) await link.ask((redis) => redis.hset(base, ...kept));
  }

  async #hasMovedCredit(teamId: string): Promise<boolean> {
    const { link } = this.#parts.accounts;
    const periods = await link.ask((redis) => redis.hvals(groupKey(teamId) + OF_TEAM.periods));
    return periods.some((text) => {
      const { addedMicro, deductedMicro } = JSON.parse(text) as { readonly addedMicro: number; readonly deductedMicro: number };
      return addedMicro > 0 || deductedMicro > 0;
    });
  }
}

/** Only the usage is left. */
function isComplete({ read }: HashDraft): boolean {
  return ![...read.keys()].some((field) => field !== FIELD.deleted && idIn(field, 'key:') === undefined);
}

function nameless(text: string): string {
  const { record, order } = readKey(text);
  return keyText({ record: { ...record, label: '', display: '', limits: {}, status: 'revoked' }, digest: undefined, order });
}
