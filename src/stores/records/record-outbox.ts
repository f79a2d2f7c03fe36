// The outbox as shared records: an event each, and an index by when they are due.
import type { EventRules } from '../../domain/event-rules.ts';
import { SHARED_RECORDS } from '../../domain/shared-records.ts';
import { answered, answering, isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { DueEvent, KeptEvent, Outbox } from '../../ports/outbox.ts';
import type { RecordSpace } from '../../ports/record-space.ts';
import { eventOfRecord, eventRecordId, EVENTS, SENDER, SENDERS } from './event-record.ts';
import { timeDigits } from './json-table.ts';

/** So many are counted. */
const COUNTED_MAX = 10_000;

export class RecordOutbox implements Outbox {
  readonly #space: RecordSpace;
  readonly #rules: EventRules | undefined;

  /** `rules` are stored with the lease. */
  constructor(space: RecordSpace, rules?: EventRules) {
    this.#space = space;
    this.#rules = rules;
  }

  async pending(): Promise<number | StoreUnavailable> {
    const entries = await this.#entries(':', COUNTED_MAX);
    return isUnavailable(entries) ? entries : entries.length;
  }

  due(limit: number): Promise<readonly DueEvent[] | StoreUnavailable> {
    return answering(async () => {
      const nowMs = answered(await this.#space.change(SHARED_RECORDS, [], (_, head) => ({ result: head.nowMs })))!;
      const entries = answered(await this.#entries(timeDigits(nowMs + 1), limit));
      const ids = entries.map((entry) => entry.slice(entry.indexOf(' ') + 1));
      const values = answered(await this.#space.read(SHARED_RECORDS, EVENTS.names(ids)));
      const due = values.map((value, i) => {
        const event = EVENTS.read(value);
        return event !== undefined && EVENTS.entries(ids[i]!, event)[0]!.id === entries[i] ? event : undefined;
      });
      // Those of a deleted team.
      const unindex = entries.filter((_, i) => due[i] === undefined).map((id) => ({ index: 'events_by_due', id }) as const);
      if (unindex.length > 0) answered(await this.#space.change(SHARED_RECORDS, [], () => ({ result: true, unindex })));
      return ids.flatMap((id, i) => (due[i] === undefined ? [] : { ...eventOfRecord(id), tries: due[i].tries }));
    });
  }

  async read(event: DueEvent): Promise<KeptEvent | undefined | StoreUnavailable> {
    const values = await this.#space.read(SHARED_RECORDS, [EVENTS.name(eventRecordId(event))]);
    if (isUnavailable(values)) return values;
    const stored = EVENTS.read(values[0]);
    return stored && { id: event.id, teamId: event.teamId, atMs: stored.atMs, facts: stored.facts };
  }

  remove(event: DueEvent): Promise<StoreUnavailable | undefined> {
    return this.#change(event, undefined);
  }

  postpone(event: DueEvent, delayMs: number): Promise<StoreUnavailable | undefined> {
    return this.#change(event, delayMs);
  }

  async lease(holder: string, forMs: number): Promise<boolean | StoreUnavailable> {
    const leased = await this.#space.change(SHARED_RECORDS, [SENDERS.name(SENDER)], ([value], { nowMs }) => {
      const known = SENDERS.read(value);
      if (known !== undefined && known.holder !== holder && known.untilMs > nowMs) return { result: false };
      return { result: true, ...SENDERS.put(SENDER, { holder, untilMs: nowMs + forMs, rules: this.#rules }) };
    });
    return leased!;
  }

  async release(holder: string): Promise<StoreUnavailable | undefined> {
    const released = await this.lease(holder, 0);
    return isUnavailable(released) ? released : undefined;
  }

  #entries(below: string, limit: number): Promise<readonly string[] | StoreUnavailable> {
    return this.#space.page(SHARED_RECORDS, { index: 'events_by_due', from: '', below, limit });
  }

  /** Removes an event, or postpones it. */
  async #change(event: DueEvent, delayMs: number | undefined): Promise<StoreUnavailable | undefined> {
    const id = eventRecordId(event);
    const changed = await this.#space.change(SHARED_RECORDS, [EVENTS.name(id)], ([value], { nowMs }) => {
      const stored = EVENTS.read(value);
      if (stored === undefined) return { result: true };
      if (delayMs === undefined) return { result: true, ...EVENTS.remove(id, stored) };
      return { result: true, ...EVENTS.put(id, { ...stored, dueMs: nowMs + delayMs, tries: event.tries + 1 }, stored) };
    });
    return isUnavailable(changed) ? changed : undefined;
  }
}
