// The outbox as shared records: an event each, and an index by when they are due.
import { answeringAll } from '../../domain/store-unavailable.ts';
import type { DueEvent, Outbox } from '../../ports/outbox.ts';
import type { RecordSpace } from '../../ports/record-space.ts';
import { eventOfRecord, eventRecordId, EVENTS, SENDER, SENDERS } from './event-record.ts';
import { RecordGroup, timeDigits } from './json-table.ts';

/** So many are counted. */
const COUNTED_MAX = 10_000;

export function recordOutbox(space: RecordSpace): Outbox {
  const shared = new RecordGroup(space);
  const entriesBelow = (below: string, limit: number) => shared.page({ index: 'events_by_due', from: '', below, limit });

  /** Removes an event, or postpones it. */
  const change = (event: DueEvent, delayMs: number | undefined) =>
    EVENTS.change(shared, eventRecordId(event), [], (stored, { nowMs }) => {
      if (stored === undefined || delayMs === undefined) return { result: undefined, next: null };
      return { result: undefined, next: { ...stored, dueMs: nowMs + delayMs, tries: event.tries + 1 } };
    });

  const lease = async (holder: string, forMs: number): Promise<boolean> => {
    const leased = await SENDERS.change<boolean>(shared, SENDER, [], (known, { nowMs }) => {
      if (known !== undefined && known.holder !== holder && known.untilMs > nowMs) return { result: false };
      return { result: true, next: { holder, untilMs: nowMs + forMs } };
    });
    return leased!;
  };

  return answeringAll<Outbox>({
    lease,
    release: async (holder) => void (await lease(holder, 0)),
    pending: async () => (await entriesBelow(':', COUNTED_MAX)).length,
    async due(limit) {
      const { nowMs } = (await shared.head())!;
      const entries = await entriesBelow(timeDigits(nowMs + 1), limit);
      const ids = entries.map((entry) => entry.slice(entry.indexOf(' ') + 1));
      const due = (await shared.read(EVENTS.names(ids))).map((value, i) => {
        const event = EVENTS.read(value);
        return event !== undefined && EVENTS.entries(ids[i]!, event)[0]!.id === entries[i] ? event : undefined;
      });
      // Those of a deleted team.
      const unindex = entries.filter((_, i) => due[i] === undefined).map((id) => ({ index: 'events_by_due', id }) as const);
      if (unindex.length > 0) await shared.write({ unindex });
      return ids.flatMap((id, i) => (due[i] === undefined ? [] : { ...eventOfRecord(id), tries: due[i].tries }));
    },
    async read(event) {
      const stored = await EVENTS.find(shared, eventRecordId(event));
      return stored && { id: event.id, teamId: event.teamId, atMs: stored.atMs, facts: stored.facts };
    },
    remove: (event) => change(event, undefined),
    postpone: change,
  });
}
