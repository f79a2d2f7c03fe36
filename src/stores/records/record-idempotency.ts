// Requests that take effect once, as shared records: one each, beside it the claim of whoever runs it, and two indexes.
import { REQUEST_REMEMBERED_MS } from '../../domain/reservation.ts';
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

/** How many are forgotten at a time. */
const FORGOTTEN_MAX = 250;
const TIME_DIGITS = 15;

export class RecordIdempotency implements IdempotencyRecords {
  readonly #space: RecordSpace;
  readonly #nowMs: () => number | undefined;

  /** `nowMs`: the store's time, as far as it is known without asking. */
  constructor(space: RecordSpace, nowMs: () => number | undefined) {
    this.#space = space;
    this.#nowMs = nowMs;
  }

  async claim({ id, request, recordId, teamId, holder, leaseMs }: RequestClaim): Promise<Claimed | StoreUnavailable> {
    const names = [requestName(id), claimName(id)];
    const claimed = await this.#space.change<Claimed>(SHARED_RECORDS, names, ([kept, held], { nowMs }) => {
      const known = readRequest(id, kept);
      const hold = { ...claimName(id), value: JSON.stringify({ holder, untilMs: nowMs + leaseMs } satisfies KeptClaim) };
      if (known !== undefined && known.untilMs > nowMs) {
        if (known.request !== request) return { result: { kind: 'other_request' } };
        if (known.answer !== undefined) return { result: { kind: 'answered', answer: known.answer } };
        const running = readClaim(held);
        if (running !== undefined && running.holder !== holder && running.untilMs > nowMs) return { result: { kind: 'running' } };
        return { result: { kind: 'claimed', recordId: known.recordId }, put: [hold] };
      }
      const { put, index } = recordOf({ id, request, recordId, teamId, untilMs: nowMs + REQUEST_REMEMBERED_MS });
      const unindex = known === undefined ? [] : entriesOf(known);
      return { result: { kind: 'claimed', recordId }, put: [...put, hold], unindex, index };
    });
    // The group of the shared records always exists.
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
    return this.#held(held, (known) =>
      next === 'forget' ? { result: undefined, ...removalOf([known]) } : { result: undefined, remove: [claimName(held.id)] },
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
    const page: IndexPage = { index: 'requests_by_end', from: '', below: digitsOf(nowMs + 1), limit: FORGOTTEN_MAX };
    return this.#forgetAll(page, ({ untilMs }) => untilMs <= nowMs);
  }

  async #forgetAll(page: IndexPage, isForgotten: (request: KeptRequest) => boolean): Promise<StoreUnavailable | undefined> {
    for (;;) {
      const entries = await this.#space.page(SHARED_RECORDS, page);
      if (isUnavailable(entries)) return entries;
      if (entries.length === 0) return undefined;
      const names = entries.map((entry) => requestName(idOf(entry)));
      const count = await this.#space.change(SHARED_RECORDS, names, (values) => {
        const all = entries.map((entry, i) => ({ entry, request: readRequest(idOf(entry), values[i]) }));
        const { remove, unindex } = removalOf(all.flatMap(({ request }) => (request !== undefined && isForgotten(request) ? request : [])));
        // Entries whose request is not there: an index that is wrong must stop nobody.
        const lost = all.flatMap(({ entry, request }) => (request === undefined ? { index: page.index, id: entry } : []));
        return { result: unindex.length + lost.length, remove, unindex: [...unindex, ...lost] };
      });
      if (count === 0 || entries.length < page.limit) return undefined;
      if (isUnavailable(count)) return count;
    }
  }

  /** Changes a request if this holder runs it. */
  #held({ id, holder }: HeldRequest, decide: (known: KeptRequest) => GroupChange<undefined>): Promise<StoreUnavailable | undefined> {
    return this.#space.change(SHARED_RECORDS, [requestName(id), claimName(id)], ([kept, held]) => {
      const known = readRequest(id, kept);
      return known !== undefined && readClaim(held)?.holder === holder ? decide(known) : { result: undefined };
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

/** Ends with the request's id. */
function entriesOf({ id, untilMs, teamId }: KeptRequest): readonly IndexEntry[] {
  const byTeam: IndexEntry[] = teamId === undefined ? [] : [{ index: 'requests_by_team', id: `${teamId} ${id}` }];
  return [{ index: 'requests_by_end', id: `${digitsOf(untilMs)} ${id}` }, ...byTeam];
}

function idOf(entry: string): string {
  return entry.slice(entry.indexOf(' ') + 1);
}

function digitsOf(ms: number): string {
  return String(ms).padStart(TIME_DIGITS, '0');
}
