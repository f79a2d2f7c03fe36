// The outbox as shared records: an event each, and an index by when they are due.
import { SHARED_RECORDS } from '../../domain/shared-records.ts';
import { answered, answering, isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { DueEvent, Outbox } from '../../ports/outbox.ts';
import type { RecordSpace } from '../../ports/record-space.ts';
import { eventOfRecord, eventRecordId, EVENTS, SENDER, SENDERS } from './event-record.ts';
import { timeDigits } from './json-table.ts';

/** So many are counted. */
const COUNTED_MAX = 10_000;

export function recordOutbox(space: RecordSpace): Outbox {
  const entriesBelow = (below: string, limit: number) => space.page(SHARED_RECORDS, { index: 'events_by_due', from: '', below, limit });

  /** Removes an event, or postpones it. */
  const change = async (event: DueEvent, delayMs: number | undefined): Promise<StoreUnavailable | undefined> => {
    const id = eventRecordId(event);
    const changed = await space.change(SHARED_RECORDS, [EVENTS.name(id)], ([value], { nowMs }) => {
      const stored = EVENTS.read(value);
      if (stored === undefined) return { result: true };
      if (delayMs === undefined) return { result: true, ...EVENTS.remove(id, stored) };
      return { result: true, ...EVENTS.put(id, { ...stored, dueMs: nowMs + delayMs, tries: event.tries + 1 }, stored) };
    });
    return isUnavailable(changed) ? changed : undefined;
  };

  const lease = async (holder: string, forMs: number): Promise<boolean | StoreUnavailable> => {
    const leased = await space.change(SHARED_RECORDS, [SENDERS.name(SENDER)], ([value], { nowMs }) => {
      const known = SENDERS.read(value);
      if (known !== undefined && known.holder !== holder && known.untilMs > nowMs) return { result: false };
      return { result: true, ...SENDERS.put(SENDER, { holder, untilMs: nowMs + forMs }) };
    });
    return leased!;
  };

  return {
    lease,
    async release(holder) {
      const released = await lease(holder, 0);
      return isUnavailable(released) ? released : undefined;
    },
    async pending() {
      const entries = await entriesBelow(':', COUNTED_MAX);
      return isUnavailable(entries) ? entries : entries.length;
    },
    due: (limit) =>
      answering(async () => {
        const nowMs = answered(await space.change(SHARED_RECORDS, [], (_, head) => ({ result: head.nowMs })))!;
        const entries = answered(await entriesBelow(timeDigits(nowMs + 1), limit));
        const ids = entries.map((entry) => entry.slice(entry.indexOf(' ') + 1));
        const values = answered(await space.read(SHARED_RECORDS, EVENTS.names(ids)));
        const due = values.map((value, i) => {
          const event = EVENTS.read(value);
          return event !== undefined && EVENTS.entries(ids[i]!, event)[0]!.id === entries[i] ? event : undefined;
        });
        // Those of a deleted team.
        const unindex = entries.filter((_, i) => due[i] === undefined).map((id) => ({ index: 'events_by_due', id }) as const);
        if (unindex.length > 0) answered(await space.change(SHARED_RECORDS, [], () => ({ result: true, unindex })));
        return ids.flatMap((id, i) => (due[i] === undefined ? [] : { ...eventOfRecord(id), tries: due[i].tries }));
      }),
    async read(event) {
      const values = await space.read(SHARED_RECORDS, [EVENTS.name(eventRecordId(event))]);
      if (isUnavailable(values)) return values;
      const stored = EVENTS.read(values[0]);
      return stored && { id: event.id, teamId: event.teamId, atMs: stored.atMs, facts: stored.facts };
    },
    remove: (event) => change(event, undefined),
    postpone: change,
  };
}
