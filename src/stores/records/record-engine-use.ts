// What engines have used in their present windows, as shared records: one for each engine and kind of window.
import { answeringAll } from '../../domain/store-unavailable.ts';
import { windowAt } from '../../domain/window-limits.ts';
import type { EngineUse, EngineUsed, SentCharacters } from '../../ports/engine-use.ts';
import type { OutboxEvent } from '../../ports/outbox.ts';
import type { RecordSpace } from '../../ports/record-space.ts';
import { newEvent } from './event-record.ts';
import { RecordGroup, JsonTable } from './json-table.ts';

/** What a process that has not reported for so long has sent is added to the rest. */
const QUIET_MS = 600_000;

interface StoredUse {
  readonly startMs: number;
  readonly endMs: number;
  readonly most: number;
  /** Of processes that no longer report. */
  readonly characters: number;
  /** By process: the number of its last report, the sum of all, and when that came. */
  readonly by: Readonly<Record<string, readonly [report: number, characters: number, atMs: number]>>;
  readonly isReached: boolean;
}

const USES = new JsonTable<StoredUse>('engines');

export function recordEngineUse(space: RecordSpace): EngineUse {
  const shared = new RecordGroup(space);
  return answeringAll<EngineUse>({
    async add(sent) {
      const used = await USES.change(shared, `${sent.engine} ${sent.cap.per}`, [], (before, { nowMs }) => {
        const after = added(before, sent, nowMs);
        const { startMs, endMs, isReached } = after;
        const reachesNow = isReached && !(before?.startMs === startMs && before.isReached);
        const result: EngineUsed = { startMs, endMs, nowMs, characters: sumOf(after), reachesNow };
        return { result, next: after, ...(reachesNow && sent.reports ? newEvent(limitEvent(sent, result)) : {}) };
      });
      // The group of the shared records always exists.
      return used!;
    },
  });
}

function added(before: StoredUse | undefined, { cap, process, report, characters }: SentCharacters, nowMs: number): StoredUse {
  const window = windowAt(cap.per, nowMs);
  const current = before !== undefined && before.startMs === window.startMs ? before : undefined;
  const base: StoredUse = current ?? { ...window, most: cap.most, characters: 0, by: {}, isReached: false };
  const [last = 0, sum = 0] = base.by[process] ?? [];
  // What comes back in a process's first report was counted in a window that is over.
  const counted = base.by[process] === undefined ? Math.max(0, characters) : characters;
  const own = [Math.max(last, report), report > last ? sum + counted : sum, nowMs] as const;
  const others = Object.entries(base.by).filter(([name]) => name !== process);
  const quiet = others.filter(([, [, , atMs]]) => nowMs - atMs > QUIET_MS);
  const use: StoredUse = {
    ...base,
    most: cap.most,
    characters: base.characters + quiet.reduce((all, [, [, one]]) => all + one, 0),
    by: Object.fromEntries([...others.filter((one) => !quiet.includes(one)), [process, own]]),
  };
  return { ...use, isReached: sumOf(use) >= cap.most };
}

/** The engine is in place of the team. */
function limitEvent({ engine, cap: { per, most } }: SentCharacters, { nowMs, characters, endMs }: EngineUsed): OutboxEvent {
  const facts = { kind: 'engine_limit', engine, per, most, characters, resetsAtMs: endMs } as const;
  return { id: `engine-${engine}-limit-${per}-${nowMs}`, teamId: engine, atMs: nowMs, facts };
}

function sumOf({ characters, by }: StoredUse): number {
  return Object.values(by).reduce((sum, [, one]) => sum + one, characters);
}
