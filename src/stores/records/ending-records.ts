// Small shared tables whose records end: the secrets on which processes agree, which attempts to sign in have come back from a provider,
// so that each counts once at all gateways, and what gateways say about themselves. Each change removes what has ended.
import { SHARED_RECORDS } from '../../domain/shared-records.ts';
import { usedStateId } from '../../domain/sign-in-attempt.ts';
import { answered, answering } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { GatewayRecord, GatewayRecords } from '../../ports/gateway-records.ts';
import type { SignInRecords } from '../../ports/identity-provider.ts';
import type { RecordSpace } from '../../ports/record-space.ts';
import type { SharedSecrets } from '../../ports/shared-secrets.ts';
import { joined, JsonTable } from './json-table.ts';

interface Ending {
  readonly untilMs: number;
}

class EndingRecords<T extends object> {
  readonly #space: RecordSpace;
  readonly #name: 'gateways' | 'secrets' | 'sign_ins';
  readonly #table: JsonTable<T & Ending>;

  constructor(space: RecordSpace, name: 'gateways' | 'secrets' | 'sign_ins') {
    this.#space = space;
    this.#name = name;
    this.#table = new JsonTable(name);
  }

  /** Those that have not been removed. */
  async list(): Promise<ReadonlyMap<string, T & Ending>> {
    const all = answered(await this.#space.list(SHARED_RECORDS, this.#name));
    return new Map([...all].map(([id, text]) => [id, this.#table.read(text)]));
  }

  /** Writes a record unless there is one, or in its place, and returns the one before. Beyond `most`, the first to end are removed. */
  async put(id: string, value: T, keepMs: number, { replaces = false, most = Infinity } = {}): Promise<T | undefined> {
    const known = [...(await this.list())].toSorted(([, one], [, other]) => one.untilMs - other.untilMs);
    const others = known.map(([one]) => one).filter((one) => one !== id);
    const names = this.#table.names([id, ...others]);
    const put = await this.#space.change(SHARED_RECORDS, names, (texts, { nowMs }) => {
      const [before, ...values] = texts.map((text) => this.#table.read(text));
      const isOver = (i: number): boolean => i < others.length + 1 - most || values[i]!.untilMs <= nowMs;
      const remove = names.slice(1).filter((_, i) => values[i] !== undefined && isOver(i));
      const written = before === undefined || replaces ? this.#table.put(id, { ...value, untilMs: nowMs + keepMs }) : {};
      return { result: { before }, ...joined(written, { remove }) };
    });
    return answered(put)?.before;
  }
}

export class RecordSecrets implements SharedSecrets {
  readonly #secrets: EndingRecords<{ readonly secret: string }>;
  readonly nowMs: () => number | undefined;

  /** `nowMs`: the store's time, as far as it is known without asking. */
  constructor(space: RecordSpace, nowMs: () => number | undefined) {
    this.#secrets = new EndingRecords(space, 'secrets');
    this.nowMs = nowMs;
  }

  agree(name: string, candidate: Uint8Array, keepMs: number): Promise<Uint8Array | StoreUnavailable> {
    return answering(async () => {
      const known = await this.#secrets.put(name, { secret: Buffer.from(candidate).toString('base64url') }, keepMs);
      return known === undefined ? candidate : Buffer.from(known.secret, 'base64url');
    });
  }
}

/** Beyond this many, the oldest are deleted: the provider refuses a code twice as well. */
const USED_MAX = 200;

export class RecordSignIns implements SignInRecords {
  readonly #used: EndingRecords<object>;

  constructor(space: RecordSpace) {
    this.#used = new EndingRecords(space, 'sign_ins');
  }

  use(state: string, keepMs: number): Promise<boolean | StoreUnavailable> {
    return answering(async () => (await this.#used.put(usedStateId(state), {}, keepMs, { most: USED_MAX })) === undefined);
  }
}

/** Older records belong to gateways that no longer exist. */
const GATEWAY_MS = 86_400_000;

export class RecordGateways implements GatewayRecords {
  readonly #space: RecordSpace;
  readonly #gateways: EndingRecords<GatewayRecord>;

  constructor(space: RecordSpace) {
    this.#space = space;
    this.#gateways = new EndingRecords(space, 'gateways');
  }

  leave({ host, file }: GatewayRecord): Promise<StoreUnavailable | undefined> {
    return answering(async () => {
      // Host names contain no line feed.
      await this.#gateways.put(`${host}\n${file}`, { host, file }, GATEWAY_MS, { replaces: true });
      return undefined;
    });
  }

  recent(withinMs: number): Promise<readonly GatewayRecord[] | StoreUnavailable> {
    return answering(async () => {
      const known = [...(await this.#gateways.list())].toSorted(([one], [other]) => (one < other ? -1 : 1));
      const nowMs = answered(await this.#space.change(SHARED_RECORDS, [], (_, head) => ({ result: head.nowMs })))!;
      const isRecent = ({ untilMs }: Ending): boolean => untilMs - GATEWAY_MS >= nowMs - withinMs;
      return known.filter(([, one]) => isRecent(one)).map(([, { host, file }]) => ({ host, file }));
    });
  }
}
