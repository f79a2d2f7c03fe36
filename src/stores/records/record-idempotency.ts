// Requests that take effect once, as shared records: one each, beside it the claim of whoever runs it, and two indexes.
import { REQUEST_REMEMBERED_MS, REQUESTS_MAX } from '../../domain/reservation.ts';
import { SHARED_RECORDS } from '../../domain/shared-records.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Claimed, HeldRequest, IdempotencyRecords, RequestClaim } from '../../ports/idempotency-records.ts';
import type { GroupChange, IndexEntry, IndexPage, RecordName, RecordSpace, StoredRecord } from '../../ports/record-space.ts';

interface KeptRequest extends Pick<RequestClaim, 'id' | 'request' | 'recordId' | 'teamId'> {
  readonly answer?: string;
  /** When it is forgotten. */
  readonly untilMs: number;
}

/** Who runs a request. A record of its own, which is removed as the request ends: a full store makes such a change as well. */
interface KeptClaim extends Pick<RequestClaim, 'holder'> {
  readonly untilMs: number;
}

/** How many are forgotten at a time, and how many of the oldest are looked at to make room for one. */
const FORGOTTEN_MAX = 250;
const OLDEST_MAX = 32;
/** How many are remembered. */
const COUNT: RecordName = { table: 'totals', id: 'requests' };
const TIME_DIGITS = 15;

export class RecordIdempotency implements IdempotencyRecords {
  readonly #space: RecordSpace;
  readonly #nowMs: () => number | undefined;

  /** `nowMs`: the store's time, as far as it is known without asking. */
  constructor(space: RecordSpace, nowMs: () => number | undefined) {
    this.#space = space;
    this.#nowMs = nowMs;
  }

  async claim(claim: RequestClaim): Promise<Claimed | StoreUnavailable> {
    const failed = await this.sweep();
    if (failed !== undefined) return failed;
    for (let oldest: readonly string[] | undefined; ;) {
      const claimed = await this.#claim(claim, oldest);
      if (claimed !== 'full') return claimed;
      const found = await this.#space.page(SHARED_RECORDS, { ...endsBefore(Infinity), limit: OLDEST_MAX });
      if (isUnavailable(found)) return found;
      oldest = found;
    }
  }

  /** `full` if none of the oldest could be forgotten to make room, because none is named or somebody else has done so. */
  async #claim(claim: RequestClaim, oldest: readonly string[] | undefined): Promise<Claimed | 'full' | StoreUnavailable> {
    const { id, request, recordId, teamId, holder, leaseMs } = claim;
    const others = (oldest ?? []).filter((entry) => idOf(entry) !== id);
    const names = [requestName(id), claimName(id), COUNT, ...others.map((entry) => requestName(idOf(entry)))];
    const claimed = await this.#space.change<Claimed | 'full'>(SHARED_RECORDS, names, ([kept, held, counted, ...values], { nowMs }) => {
      const known = readRequest(id, kept);
      const hold = { ...claimName(id), value: JSON.stringify({ holder, untilMs: nowMs + leaseMs } satisfies KeptClaim) };
      if (known !== undefined && known.untilMs > nowMs) {
        if (known.request !== request) return { result: { kind: 'other_request' } };
        if (known.answer !== undefined) return { result: { kind: 'answered', answer: known.answer } };
        const running = readClaim(held);
        if (running !== undefined && running.holder !== holder && running.untilMs > nowMs) return { result: { kind: 'running' } };
        return { result: { kind: 'claimed', recordId: known.recordId }, put: [hold] };
      }
      const count = Number(counted ?? 0) + (known === undefined ? 1 : 0);
      const { found, lost } = requestsAt('requests_by_end', others, values);
      const dropped = found.slice(0, Math.max(0, count - REQUESTS_MAX));
      if (count > REQUESTS_MAX && dropped.length === 0 && oldest?.length !== 0) return { result: 'full', unindex: lost };
      const { put, index } = recordOf({ id, request, recordId, teamId, untilMs: nowMs + REQUEST_REMEMBERED_MS });
      const { remove, unindex } = removalOf(known === undefined ? dropped : [known, ...dropped]);
      return {
        result: { kind: 'claimed', recordId },
        remove,
        put: [...put, hold, { ...COUNT, value: String(count - dropped.length) }],
        unindex,
        index,
      };
    });
    return claimed!;
  }

  async finish({ id, holder }: HeldRequest, answer: string, teamId: string | undefined): Promise<StoreUnavailable | undefined> {
    const finished = await this.#held({ id, holder }, (known) => {
      const { put, index } = recordOf({ ...known, answer, teamId: teamId ?? known.teamId });
      return { result: undefined, put, index, remove: [claimName(id)] };
    });
    if (finished !== undefined || teamId === undefined) return finished;
    // A deletion of the team either finds the answer, or is seen here.
    const isThere = await this.#space.change(teamId, [], () => ({ result: true }));
    if (isUnavailable(isThere)) return isThere;
    return isThere ? undefined : this.forgetTeam(teamId);
  }

  release(held: HeldRequest, next: 'forget' | 'repeat'): Promise<StoreUnavailable | undefined> {
    return this.#held(held, (known, counted) =>
      next === 'forget' ? forgotten([known], counted) : { result: undefined, remove: [claimName(held.id)] },
    );
  }

  async forgetTeam(teamId: string): Promise<StoreUnavailable | undefined> {
    // An exclamation mark follows a space.
    const page: IndexPage = { index: 'requests_by_team', from: `${teamId} `, below: `${teamId}!`, limit: FORGOTTEN_MAX };
    return this.#forgetAll(page, (one) => one.teamId === teamId);
  }

  async sweep(): Promise<StoreUnavailable | undefined> {
    const nowMs = this.#nowMs();
    if (nowMs === undefined) return undefined;
    return this.#forgetAll({ ...endsBefore(nowMs + 1), limit: FORGOTTEN_MAX }, ({ untilMs }) => untilMs <= nowMs);
  }

  async #forgetAll(page: IndexPage, isMeant: (request: KeptRequest) => boolean): Promise<StoreUnavailable | undefined> {
    for (;;) {
      const entries = await this.#space.page(SHARED_RECORDS, page);
      if (isUnavailable(entries)) return entries;
      if (entries.length === 0) return undefined;
      const names = [COUNT, ...entries.map((entry) => requestName(idOf(entry)))];
      const count = await this.#space.change(SHARED_RECORDS, names, ([counted, ...values]) => {
        const { found, lost } = requestsAt(page.index, entries, values);
        const { unindex = [], ...rest } = forgotten(found.filter(isMeant), counted);
        const all = [...unindex, ...lost];
        return { ...rest, unindex: all, result: all.length };
      });
      if (count === 0 || entries.length < page.limit) return undefined;
      if (isUnavailable(count)) return count;
    }
  }

  /** Changes a request if this holder runs it. */
  #held(
    { id, holder }: HeldRequest,
    decide: (known: KeptRequest, counted: string | undefined) => GroupChange<undefined>,
  ): Promise<StoreUnavailable | undefined> {
    return this.#space.change(SHARED_RECORDS, [requestName(id), claimName(id), COUNT], ([kept, held, counted]) => {
      const known = readRequest(id, kept);
      return known !== undefined && readClaim(held)?.holder === holder ? decide(known, counted) : { result: undefined };
    });
  }
}

function requestName(id: string): RecordName {
  return { table: 'requests', id };
}

function claimName(id: string): RecordName {
  return { table: 'claims', id };
}

function readRequest(id: string, value: string | undefined): KeptRequest | undefined {
  return value === undefined ? undefined : { id, ...(JSON.parse(value) as Omit<KeptRequest, 'id'>) };
}

function readClaim(value: string | undefined): KeptClaim | undefined {
  return value === undefined ? undefined : (JSON.parse(value) as KeptClaim);
}

/** The requests of index entries, and the entries whose request is not there: an index that is wrong must stop nobody. */
function requestsAt(index: IndexEntry['index'], entries: readonly string[], values: readonly (string | undefined)[]) {
  const all = entries.map((entry, i) => ({ entry, request: readRequest(idOf(entry), values[i]) }));
  return {
    found: all.flatMap(({ request }) => request ?? []),
    lost: all.filter(({ request }) => request === undefined).map(({ entry }): IndexEntry => ({ index, id: entry })),
  };
}

/** A request's record, and where it is indexed. */
function recordOf({ id, ...request }: KeptRequest): { readonly put: readonly StoredRecord[]; readonly index: readonly IndexEntry[] } {
  return { put: [{ ...requestName(id), value: JSON.stringify(request) }], index: entriesOf({ id, ...request }) };
}

function removalOf(requests: readonly KeptRequest[]) {
  return {
    remove: requests.flatMap(({ id }) => [requestName(id), claimName(id)]),
    unindex: requests.flatMap(entriesOf),
  };
}

function forgotten(requests: readonly KeptRequest[], counted: string | undefined): GroupChange<undefined> {
  if (requests.length === 0) return { result: undefined };
  const value = String(Number(counted) - requests.length);
  return { result: undefined, ...removalOf(requests), put: [{ ...COUNT, value }] };
}

/** Ends with the request's id. */
function entriesOf({ id, untilMs, teamId }: KeptRequest): readonly IndexEntry[] {
  const byTeam: IndexEntry[] = teamId === undefined ? [] : [{ index: 'requests_by_team', id: `${teamId} ${id}` }];
  return [{ index: 'requests_by_end', id: `${digitsOf(untilMs)} ${id}` }, ...byTeam];
}

function idOf(entry: string): string {
  return entry.slice(entry.indexOf(' ') + 1);
}

function endsBefore(ms: number): Pick<IndexPage, 'index' | 'from' | 'below'> {
  return { index: 'requests_by_end', from: '', below: ms === Infinity ? ':' : digitsOf(ms) };
}

function digitsOf(ms: number): string {
  return String(ms).padStart(TIME_DIGITS, '0');
}
