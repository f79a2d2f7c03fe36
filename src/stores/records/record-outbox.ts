// The outbox as shared records: an event each, and an index by when they are due.
import type { EventRules } from '../../domain/event-rules.ts';
import { SHARED_RECORDS } from '../../domain/shared-records.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { DueEvent, KeptEvent, Outbox } from '../../ports/outbox.ts';
import type { GroupChange, IndexEntry, RecordName, RecordSpace } from '../../ports/record-space.ts';
import { dueEntry, keptEvent, eventName, eventOfName, readEvent, readSender, SENDER, timeDigits, writtenSender } from './event-record.ts';
import type { StoredEvent } from './event-record.ts';

/** So many are counted. */
const COUNTED_MAX = 10_000;

export class RecordOutbox implements Outbox {
  readonly #space: RecordSpace;
  readonly #rules: EventRules | undefined;

  /** `rules` are kept with the lease (`rulesInForce`). */
  constructor(space: RecordSpace, rules?: EventRules) {
    this.#space = space;
    this.#rules = rules;
  }

  async pending(): Promise<number | StoreUnavailable> {
    const entries = await this.#entries(Infinity, COUNTED_MAX);
    return isUnavailable(entries) ? entries : entries.length;
  }

  async due(limit: number): Promise<readonly DueEvent[] | StoreUnavailable> {
    const nowMs = await this.#space.change(SHARED_RECORDS, [], (_, head) => ({ result: head.nowMs }));
    if (isUnavailable(nowMs)) return nowMs;
    const entries = await this.#entries(nowMs! + 1, limit);
    if (isUnavailable(entries)) return entries;
    const names = entries.map((entry): RecordName => ({ table: 'events', id: entry.slice(entry.indexOf(' ') + 1) }));
    const values = await this.#space.read(SHARED_RECORDS, names);
    if (isUnavailable(values)) return values;
    const stored = values.map((value) => (value === undefined ? undefined : readEvent(value)));
    const isListed = (i: number): boolean => stored[i] !== undefined && dueEntry(names[i]!, stored[i]).id === entries[i];
    // Those of a deleted team.
    const unindex = entries.filter((_, i) => !isListed(i)).map((id): IndexEntry => ({ index: 'events_by_due', id }));
    const failed = unindex.length === 0 ? undefined : await this.#space.change(SHARED_RECORDS, [], () => ({ result: true, unindex }));
    if (failed !== undefined && isUnavailable(failed)) return failed;
    return names.flatMap((name, i) => (isListed(i) ? { ...eventOfName(name.id), tries: stored[i]!.tries } : []));
  }

  async read(event: DueEvent): Promise<KeptEvent | undefined | StoreUnavailable> {
    const name = eventName(event);
    const values = await this.#space.read(SHARED_RECORDS, [name]);
    if (isUnavailable(values)) return values;
    const [value] = values;
    return value === undefined ? undefined : keptEvent(name.id, value);
  }

  remove(event: DueEvent): Promise<StoreUnavailable | undefined> {
    return this.#change(event, (name) => ({ result: true, remove: [name] }));
  }

  postpone(event: DueEvent, delayMs: number): Promise<StoreUnavailable | undefined> {
    return this.#change(event, (name, stored, nowMs) => {
      const next = { ...stored, dueMs: nowMs + delayMs, tries: event.tries + 1 };
      return { result: true, put: [{ ...name, value: JSON.stringify(next) }], index: [dueEntry(name, next)] };
    });
  }

  async lease(holder: string, forMs: number): Promise<boolean | StoreUnavailable> {
    const leased = await this.#space.change(SHARED_RECORDS, [SENDER], ([value], { nowMs }) => {
      const known = readSender(value);
      if (known !== undefined && known.holder !== holder && known.untilMs > nowMs) return { result: false };
      return { result: true, put: [writtenSender({ holder, untilMs: nowMs + forMs, rules: this.#rules })] };
    });
    return leased!;
  }

  async release(holder: string): Promise<StoreUnavailable | undefined> {
    const released = await this.lease(holder, 0);
    return isUnavailable(released) ? released : undefined;
  }

  #entries(belowMs: number, limit: number): Promise<readonly string[] | StoreUnavailable> {
    const below = belowMs === Infinity ? ':' : timeDigits(belowMs);
    return this.#space.page(SHARED_RECORDS, { index: 'events_by_due', from: '', below, limit });
  }

  /** Its entry in the index is removed, whatever the change is. */
  async #change(
    event: DueEvent,
    change: (name: RecordName, stored: StoredEvent, nowMs: number) => GroupChange<true>,
  ): Promise<StoreUnavailable | undefined> {
    const name = eventName(event);
    const changed = await this.#space.change(SHARED_RECORDS, [name], ([value], { nowMs }) => {
      if (value === undefined) return { result: true };
      const stored = readEvent(value);
      return { ...change(name, stored, nowMs), unindex: [dueEntry(name, stored)] };
    });
    return isUnavailable(changed) ? changed : undefined;
  }
}
