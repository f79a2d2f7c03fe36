// The audit in Redis: a hash of entries by id among the shared records, and sorted sets of the ids, of all and by team. Changes leave
// their entries with their team first (postbox.ts).
import { idBefore, momentOf, withoutNames } from '../../domain/audit-entry.ts';
import type { AuditEntry, AuditRecord } from '../../domain/audit-entry.ts';
import { SHARED_RECORDS } from '../../domain/shared-records.ts';
import { answering } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { AuditLog, AuditPage } from '../../ports/audit-log.ts';
import { auditWrites } from './postbox.ts';
import { AUDIT_IDS, AUDIT_OF_TEAMS, AUDIT_TABLE, groupKey } from './redis-keys.ts';
import type { RedisLink, Write } from './redis-link.ts';

/** Entries read, changed or deleted at a time. */
const PIECE = 256;
const SHARED = groupKey(SHARED_RECORDS);

interface StoredEntry extends AuditRecord {
  readonly teamId?: string;
}

export class RedisAuditLog implements AuditLog {
  readonly #link: RedisLink;
  readonly #keptMs: number;

  constructor(link: RedisLink, keptMs: number) {
    this.#link = link;
    this.#keptMs = keptMs;
  }

  page({ teamId, after, sinceMs, limit }: AuditPage): Promise<readonly AuditEntry[] | StoreUnavailable> {
    return answering(async () => {
      const from = idBefore(Math.max(sinceMs ?? 0, (await this.#link.now()) - this.#keptMs));
      const prefix = teamId === undefined ? '' : `${teamId} `;
      const key = SHARED + (teamId === undefined ? AUDIT_IDS : AUDIT_OF_TEAMS);
      const below = after === undefined ? `(${prefix}:` : `(${prefix}${after}`;
      const listed = await this.#link.ask((redis) => redis.zrevrangebylex(key, below, `[${prefix}${from}`, 'LIMIT', 0, limit));
      return this.#entries(listed.map((one) => one.slice(prefix.length)));
    });
  }

  async #entries(ids: readonly string[]): Promise<AuditEntry[]> {
    if (ids.length === 0) return [];
    const texts = await this.#link.ask((redis) => redis.hmget(SHARED + AUDIT_TABLE, ...ids));
    return ids.flatMap((id, i): AuditEntry[] => {
      const text = texts[i];
      if (typeof text !== 'string') return [];
      const { teamId, keyId, ...entry } = JSON.parse(text) as StoredEntry;
      return [{ id, atMs: momentOf(id), teamId, keyId, ...entry }];
    });
  }

  forgetNames(teamId: string): Promise<StoreUnavailable | undefined> {
    return answering(async () => {
      const key = SHARED + AUDIT_OF_TEAMS;
      const listed = await this.#link.ask((redis) => redis.zrangebylex(key, `[${teamId} `, `(${teamId}!`));
      for (let first = 0; first < listed.length; first += PIECE) {
        const entries = await this.#entries(listed.slice(first, first + PIECE).map((one) => one.slice(teamId.length + 1)));
        const write = entries.map(({ id, atMs: _at, ...entry }): Write => {
          const { teamId: of, ...record } = entry;
          return ['HSET', AUDIT_TABLE, id, JSON.stringify({ teamId: of, ...withoutNames(record) })];
        });
        if (write.length > 0) await this.#link.compare(SHARED_RECORDS, { fields: [], write, frees: true });
      }
      return undefined;
    });
  }

  restore(entries: readonly AuditEntry[]): Promise<StoreUnavailable | undefined> {
    return answering(async () => {
      const write = entries.flatMap(({ id, atMs: _at, teamId, ...record }) => auditWrites(id, teamId, record));
      await this.#link.compare(SHARED_RECORDS, { fields: [], write, frees: false });
      return undefined;
    });
  }

  /** Deletes entries that are older than they are kept. */
  async prune(): Promise<void> {
    const before = idBefore((await this.#link.now()) - this.#keptMs);
    for (;;) {
      const ids = await this.#link.ask((redis) => redis.zrangebylex(SHARED + AUDIT_IDS, '-', `(${before}`, 'LIMIT', 0, PIECE));
      if (ids.length === 0) return;
      const entries = await this.#entries(ids);
      const ofTeams = entries.flatMap(({ id, teamId }) => (teamId === undefined ? [] : `${teamId} ${id}`));
      const write: Write[] = [
        ['HDEL', AUDIT_TABLE, ...ids],
        ['ZREM', AUDIT_IDS, ...ids],
      ];
      if (ofTeams.length > 0) write.push(['ZREM', AUDIT_OF_TEAMS, ...ofTeams]);
      await this.#link.compare(SHARED_RECORDS, { fields: [], write, frees: true });
    }
  }
}
