// Small shared tables whose records end: the secrets on which processes agree, which attempts to sign in have come back from a provider,
// so that each counts once at all gateways, and what gateways say about themselves. Each change removes what has ended.
import { answering, answeringAll } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { GatewayRecord, GatewayRecords, SharedSecrets } from '../../ports/store.ts';
import type { RecordSpace } from '../../ports/record-space.ts';
import { RecordGroup, JsonTable } from './json-table.ts';

interface Ending {
  readonly untilMs: number;
}

function endingRecords<T extends object>(shared: RecordGroup, name: 'gateways' | 'secrets' | 'sign_ins') {
  const table = new JsonTable<T & Ending>(name);
  return {
    /** Those that have not been removed. */
    list: () => table.list(shared),
    /** Writes a record unless there is one, or in its place, and returns the one before. Beyond `most`, the first to end are removed. */
    async put(id: string, value: T, keepMs: number, { replaces = false, most = Infinity } = {}): Promise<T | undefined> {
      const known = (await table.list(shared)).toSorted(([, one], [, other]) => one.untilMs - other.untilMs);
      const others = known.map(([one]) => one).filter((one) => one !== id);
      const surplus = others.length + 1 - most;
      const put = await table.change(shared, id, table.names(others), (before, { nowMs }, texts) => {
        const values = texts.map((text) => table.read(text));
        const ended = others.filter((_, i) => values[i] !== undefined && (i < surplus || values[i].untilMs <= nowMs));
        const next = before === undefined || replaces ? { ...value, untilMs: nowMs + keepMs } : undefined;
        return { result: { before }, next, remove: table.names(ended) };
      });
      return put?.before;
    },
  };
}

/** `nowMs`: the store's time, as far as it is known without asking. */
export function recordSecrets(space: RecordSpace, nowMs: () => number | undefined): SharedSecrets {
  const secrets = endingRecords<{ readonly secret: string }>(new RecordGroup(space), 'secrets');
  return {
    nowMs,
    agree: (name, candidate, keepMs) =>
      answering(async () => {
        const known = await secrets.put(name, { secret: Buffer.from(candidate).toString('base64url') }, keepMs);
        return known === undefined ? candidate : Buffer.from(known.secret, 'base64url');
      }),
  };
}

/** Beyond this many, the oldest are deleted: the provider refuses a code twice as well. */
const USED_MAX = 200;

/** Remembers an attempt for a time; `false` if it was remembered before. */
export function recordSignIns(space: RecordSpace): (id: string, keepMs: number) => Promise<boolean | StoreUnavailable> {
  const used = endingRecords(new RecordGroup(space), 'sign_ins');
  return (id, keepMs) => answering(async () => (await used.put(id, {}, keepMs, { most: USED_MAX })) === undefined);
}

/** Older records belong to gateways that no longer exist. */
const GATEWAY_MS = 86_400_000;

export function recordGateways(space: RecordSpace): GatewayRecords {
  const shared = new RecordGroup(space);
  const gateways = endingRecords<GatewayRecord>(shared, 'gateways');
  return answeringAll<GatewayRecords>({
    async leave({ host, file }) {
      // Host names contain no line feed.
      await gateways.put(`${host}\n${file}`, { host, file }, GATEWAY_MS, { replaces: true });
    },
    async recent(withinMs) {
      const known = (await gateways.list()).toSorted(([one], [other]) => (one < other ? -1 : 1));
      const { nowMs } = (await shared.head())!;
      const recent = known.filter(([, { untilMs }]) => untilMs - GATEWAY_MS >= nowMs - withinMs);
      return recent.map(([, { host, file }]) => ({ host, file }));
    },
  });
}
