// Events and audit entries of teams go by their own slot: a change leaves them in the team's hash `:outgoing`, in the same operation, and
// afterwards they are moved to the shared records. What a process left there when it stopped is moved by the janitor.
import { momentOf } from '../../domain/audit-entry.ts';
import type { AuditEntry, AuditRecord } from '../../domain/audit-entry.ts';
import { answered, answering, isUnavailable } from '../../domain/store-unavailable.ts';
import type { EventFacts } from '../../ports/outbox.ts';
import type { RecordSpace } from '../../ports/record-space.ts';
import { eventNames, eventWrites } from '../records/event-record.ts';
import type { RecordAudit } from '../records/record-audit.ts';
import { RecordGroup } from '../records/json-table.ts';
import { groupKey, OF_TEAM } from './redis-keys.ts';
import { InTurn } from './redis-link.ts';
import type { RedisLink } from './redis-link.ts';

export type Outgoing =
  | { readonly kind: 'audit'; readonly record: AuditRecord }
  | { readonly kind: 'event'; readonly atMs: number; readonly facts: EventFacts };

interface Shared {
  readonly records: RecordSpace;
  readonly audit: Pick<RecordAudit, 'restore'>;
}

export class Postbox {
  readonly #link: RedisLink;
  readonly #to: () => Shared;
  readonly #rounds = new InTurn();

  constructor(link: RedisLink, to: () => Shared) {
    this.#link = link;
    this.#to = to;
  }

  /** Moves what a team has; false if that has to be done later. */
  empty(teamId: string): Promise<boolean> {
    return this.#rounds.run(teamId, () => this.#empty(teamId));
  }

  async #empty(teamId: string): Promise<boolean> {
    const done = await answering(async () => {
      const key = groupKey(teamId) + OF_TEAM.outgoing;
      const outgoing = Object.entries(await this.#link.ask((redis) => redis.hgetall(key)));
      if (outgoing.length === 0) return;
      const read = outgoing.map(([id, text]) => ({ id, one: JSON.parse(text) as Outgoing }));
      const entries = read.flatMap(({ id, one }): AuditEntry[] =>
        one.kind === 'audit' ? [{ id, atMs: momentOf(id), teamId, ...one.record }] : [],
      );
      if (entries.length > 0) answered(await this.#to().audit.restore(entries));
      for (const { id, one } of read) if (one.kind === 'event') await this.#moveEvent(teamId, id, one);
      await this.#link.ask((redis) => redis.hdel(key, ...read.map(({ id }) => id)));
    });
    return !isUnavailable(done);
  }

  /** May be done twice. */
  async #moveEvent(teamId: string, id: string, { atMs, facts }: Extract<Outgoing, { kind: 'event' }>): Promise<void> {
    const shared = new RecordGroup(this.#to().records);
    await shared.change(eventNames(teamId), (values) => ({ result: true, ...eventWrites(teamId, values, atMs, { id, facts }) }));
  }
}
