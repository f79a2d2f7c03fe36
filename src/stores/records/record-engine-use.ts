// What engines have used in their present windows, as shared records: one for each engine and kind of window.
import { windowAt } from '../../domain/period.ts';
import type { WindowName } from '../../domain/window-limits.ts';
import { SHARED_RECORDS } from '../../domain/shared-records.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { EngineUse, EngineUsed, SentCharacters } from '../../ports/engine-use.ts';
import type { DueEvent, KeptEvent, Outbox } from '../../ports/outbox.ts';
import type { RecordName, RecordSpace } from '../../ports/record-space.ts';

const TABLE = 'engines';
/** What a process that has not reported for so long has sent is added to the rest. */
const QUIET_MS = 600_000;

/** A record as stored. */
interface KeptUse {
  readonly startMs: number;
  readonly endMs: number;
  readonly most: number;
  /** Of processes that no longer report. */
  readonly characters: number;
  /** By process: the number of its last report, the sum of all, and when that came. */
  readonly by: Readonly<Record<string, readonly [report: number, characters: number, atMs: number]>>;
  readonly isReached: boolean;
  /** The event that tells of it, until it is delivered. */
  readonly event?: { readonly atMs: number; readonly dueMs: number; readonly tries: number; readonly used: number };
}

export class RecordEngineUse implements EngineUse {
  readonly #space: RecordSpace;

  constructor(space: RecordSpace) {
    this.#space = space;
  }

  async add(sent: SentCharacters): Promise<EngineUsed | StoreUnavailable> {
    const name: RecordName = { table: TABLE, id: `${sent.engine} ${sent.cap.per}` };
    const used = await this.#space.change(SHARED_RECORDS, [name], ([value], { nowMs }) => {
      const kept = added(value === undefined ? undefined : readUse(value), sent, nowMs);
      const { startMs, endMs, isReached } = kept;
      const reachesNow = isReached && (value === undefined || !isSame(readUse(value), kept) || !readUse(value).isReached);
      const result: EngineUsed = { startMs, endMs, nowMs, characters: sumOf(kept), reachesNow };
      return { result, put: [{ ...name, value: JSON.stringify(kept) }] };
    });
    // The group of the shared records always exists.
    return used!;
  }
}

function added(before: KeptUse | undefined, { cap, process, report, characters, tells }: SentCharacters, nowMs: number): KeptUse {
  const window = windowAt(cap.per, nowMs);
  const current = before !== undefined && before.startMs === window.startMs ? before : undefined;
  // An event of the window before is sent, whatever comes.
  const event = before?.event === undefined ? {} : { event: before.event };
  const base: KeptUse = current ?? { ...window, most: cap.most, characters: 0, by: {}, isReached: false, ...event };
  const [last = 0, sum = 0] = base.by[process] ?? [];
  // What comes back in a process's first report was counted in a window that is over.
  const counted = base.by[process] === undefined ? Math.max(0, characters) : characters;
  const own = [Math.max(last, report), report > last ? sum + counted : sum, nowMs] as const;
  const others = Object.entries(base.by).filter(([name]) => name !== process);
  const quiet = others.filter(([, [, , atMs]]) => nowMs - atMs > QUIET_MS);
  const kept: KeptUse = {
    ...base,
    most: cap.most,
    characters: base.characters + quiet.reduce((all, [, [, one]]) => all + one, 0),
    by: Object.fromEntries([...others.filter((one) => !quiet.includes(one)), [process, own]]),
  };
  const used = sumOf(kept);
  if (used < cap.most) return { ...kept, isReached: false };
  if (kept.isReached || !tells) return { ...kept, isReached: true };
  return { ...kept, isReached: true, event: { atMs: nowMs, dueMs: nowMs, tries: 0, used } };
}

function isSame(one: KeptUse, other: KeptUse): boolean {
  return one.startMs === other.startMs;
}

function sumOf({ characters, by }: KeptUse): number {
  return Object.values(by).reduce((sum, [, one]) => sum + one, characters);
}

function readUse(value: string): KeptUse {
  return JSON.parse(value) as KeptUse;
}

/** An event of an engine, whose subject is the engine. */
const EVENT_ID = /^engine-(.+)-limit-(minute|hour|day|week|month)-(\d+)$/;

/** The outbox with the events of engines in front of those of teams. */
export function withEngineEvents(outbox: Outbox, space: RecordSpace): Outbox {
  const change = async (event: DueEvent, changed: (use: KeptUse) => KeptUse['event']): Promise<StoreUnavailable | undefined> => {
    const name = recordOf(event)!;
    const done = await space.change(SHARED_RECORDS, [name], ([value], _head) => {
      if (value === undefined) return { result: true };
      const { event: kept, ...use } = readUse(value);
      if (kept === undefined || eventId(name.id, kept.atMs) !== event.id) return { result: true };
      const next = changed({ ...use, event: kept });
      return { result: true, put: [{ ...name, value: JSON.stringify(next === undefined ? use : { ...use, event: next }) }] };
    });
    return isUnavailable(done) ? done : undefined;
  };
  const all = async (): Promise<readonly (readonly [id: string, use: KeptUse])[] | StoreUnavailable> => {
    const found = await space.list(SHARED_RECORDS, TABLE);
    if (isUnavailable(found)) return found;
    return [...found].map(([id, value]) => [id, readUse(value)] as const).filter(([, { event }]) => event !== undefined);
  };
  return {
    ...delegated(outbox),
    async pending() {
      const [ofTeams, ofEngines] = [await outbox.pending(), await all()];
      if (typeof ofTeams !== 'number') return ofTeams;
      return isUnavailable(ofEngines) ? ofEngines : ofTeams + ofEngines.length;
    },
    async due(limit) {
      const ofEngines = await all();
      if (isUnavailable(ofEngines)) return ofEngines;
      const due = await dueNow(space, ofEngines);
      if (isUnavailable(due)) return due;
      const ofTeams = await outbox.due(limit);
      return isUnavailable(ofTeams) ? ofTeams : [...due, ...ofTeams].slice(0, limit);
    },
    async read(event) {
      const name = recordOf(event);
      if (name === undefined) return outbox.read(event);
      const values = await space.read(SHARED_RECORDS, [name]);
      if (isUnavailable(values)) return values;
      const [value] = values;
      return value === undefined ? undefined : keptEvent(name.id, event.id, readUse(value));
    },
    remove: (event) => (recordOf(event) === undefined ? outbox.remove(event) : change(event, () => undefined)),
    postpone(event, delayMs) {
      if (recordOf(event) === undefined) return outbox.postpone(event, delayMs);
      return change(event, ({ event: kept }) => kept && { ...kept, dueMs: kept.dueMs + delayMs, tries: event.tries + 1 });
    },
  };
}

function delegated(outbox: Outbox): Pick<Outbox, 'lease' | 'release'> {
  return {
    lease: (holder, forMs) => outbox.lease(holder, forMs),
    release: (holder) => outbox.release(holder),
  };
}

async function dueNow(space: RecordSpace, ofEngines: readonly (readonly [id: string, use: KeptUse])[]) {
  if (ofEngines.length === 0) return [];
  const nowMs = await space.change(SHARED_RECORDS, [], (_, head) => ({ result: head.nowMs }));
  if (isUnavailable(nowMs)) return nowMs;
  return ofEngines.flatMap(([id, { event }]): DueEvent[] => {
    if (event === undefined || event.dueMs > nowMs!) return [];
    return [{ id: eventId(id, event.atMs), teamId: id.split(' ')[0]!, tries: event.tries }];
  });
}

function eventId(recordId: string, atMs: number): string {
  const [engine, per] = recordId.split(' ');
  return `engine-${engine}-limit-${per}-${atMs}`;
}

/** `undefined` for an event of a team. */
function recordOf({ id, teamId }: DueEvent): RecordName | undefined {
  const [, engine, per] = EVENT_ID.exec(id) ?? [];
  return engine === undefined || engine !== teamId ? undefined : { table: TABLE, id: `${engine} ${per}` };
}

function keptEvent(recordId: string, id: string, { most, event }: KeptUse): KeptEvent | undefined {
  if (event === undefined || eventId(recordId, event.atMs) !== id) return undefined;
  const [engine = '', per = ''] = recordId.split(' ');
  const { endMs } = windowAt(per as WindowName, event.atMs);
  const facts = { kind: 'engine_limit', engine, per, most, characters: event.used, resetsAtMs: endMs } as const;
  return { id, teamId: engine, atMs: event.atMs, facts };
}
