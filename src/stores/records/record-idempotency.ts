// Requests that take effect once, as shared records: one each, found by when it is forgotten, and beside it the claim of whoever runs it.
import { REQUEST_REMEMBERED_MS } from '../../domain/reservation.ts';
import { SHARED_RECORDS } from '../../domain/shared-records.ts';
import { answered, answering, isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Claimed, HeldRequest, IdempotencyRecords, RequestClaim } from '../../ports/idempotency-records.ts';
import type { GroupChange, RecordSpace } from '../../ports/record-space.ts';
import { joined, JsonTable, timeDigits, writeInPieces } from './json-table.ts';
import type { Writes } from './json-table.ts';

interface StoredRequest extends Pick<RequestClaim, 'request' | 'recordId' | 'teamId'> {
  readonly answer?: string;
  /** When it is forgotten. */
  readonly untilMs: number;
}

/** Who runs a request. A record of its own, which is removed as the request ends: a full store makes such a change as well. */
interface StoredClaim extends Pick<RequestClaim, 'holder'> {
  readonly untilMs: number;
}

/** How many are forgotten at a time. */
const FORGOTTEN_MAX = 250;
const INDEX = 'requests_by_end';
const REQUESTS = new JsonTable<StoredRequest>('requests', (id, { untilMs }) => [{ index: INDEX, id: `${timeDigits(untilMs)} ${id}` }]);
const CLAIMS = new JsonTable<StoredClaim>('claims');

/** `time`: the store's, as far as it is known without asking. */
export function recordIdempotency(space: RecordSpace, time: () => number | undefined): IdempotencyRecords {
  /** Changes a request if this holder runs it. */
  const changeHeld = ({ id, holder }: HeldRequest, decide: (known: StoredRequest) => Writes): Promise<StoreUnavailable | undefined> =>
    space.change(SHARED_RECORDS, [REQUESTS.name(id), CLAIMS.name(id)], ([stored, held]): GroupChange<undefined> => {
      const known = REQUESTS.read(stored);
      return known !== undefined && CLAIMS.read(held)?.holder === holder ? { result: undefined, ...decide(known) } : { result: undefined };
    });

  const forgetTeam = (teamId: string): Promise<StoreUnavailable | undefined> =>
    answering(async () => {
      const all = [...answered(await space.list(SHARED_RECORDS, 'requests'))].map(([id, text]) => ({ id, known: REQUESTS.read(text) }));
      const own = all.filter(({ known }) => known.teamId === teamId);
      const removals = own.map(({ id, known }) => removal(id, known));
      await writeInPieces(space, removals);
      return undefined;
    });

  return {
    forgetTeam,
    async claim({ id, request, recordId, teamId, holder, leaseMs }) {
      const names = [REQUESTS.name(id), CLAIMS.name(id)];
      const claimed = await space.change<Claimed>(SHARED_RECORDS, names, ([stored, held], { nowMs }) => {
        const known = REQUESTS.read(stored);
        const hold = CLAIMS.put(id, { holder, untilMs: nowMs + leaseMs });
        if (known !== undefined && known.untilMs > nowMs) {
          if (known.request !== request) return { result: { kind: 'other_request' } };
          if (known.answer !== undefined) return { result: { kind: 'answered', answer: known.answer } };
          const running = CLAIMS.read(held);
          if (running !== undefined && running.holder !== holder && running.untilMs > nowMs) return { result: { kind: 'running' } };
          return { result: { kind: 'claimed', recordId: known.recordId }, ...hold };
        }
        const made = REQUESTS.put(id, { request, recordId, teamId, untilMs: nowMs + REQUEST_REMEMBERED_MS }, known);
        return { result: { kind: 'claimed', recordId }, ...joined(made, hold) };
      });
      // The group of the shared records always exists.
      return claimed!;
    },
    async finish(held, answer, teamId) {
      const { id } = held;
      const finished = await changeHeld(held, (known) => ({
        ...REQUESTS.put(id, { ...known, answer, teamId: teamId ?? known.teamId }, known),
        remove: [CLAIMS.name(id)],
      }));
      if (finished !== undefined || teamId === undefined) return finished;
      // A deletion of the team either finds the answer, or is seen here.
      const isThere = await space.change(teamId, [], () => ({ result: true }));
      if (isUnavailable(isThere)) return isThere;
      return isThere ? undefined : forgetTeam(teamId);
    },
    release: (held, next) =>
      changeHeld(held, (known) => (next === 'forget' ? removal(held.id, known) : { remove: [CLAIMS.name(held.id)] })),
    sweep: () =>
      answering(async () => {
        const nowMs = time();
        for (let isMore = nowMs !== undefined; isMore;) {
          const page = { index: INDEX, from: '', below: timeDigits(nowMs! + 1), limit: FORGOTTEN_MAX } as const;
          const entries = answered(await space.page(SHARED_RECORDS, page));
          const ids = entries.map((entry) => entry.slice(entry.indexOf(' ') + 1));
          const decide = (values: readonly (string | undefined)[]) => {
            const known = values.map((value) => REQUESTS.read(value));
            const ended = ids.flatMap((id, i) => (known[i] !== undefined && known[i].untilMs <= nowMs! ? removal(id, known[i]) : []));
            // Also entries whose request is not there: an index that is wrong must stop nobody.
            return { result: true, ...joined(...ended, { unindex: entries.map((id) => ({ index: INDEX, id })) }) };
          };
          if (ids.length > 0) answered(await space.change(SHARED_RECORDS, REQUESTS.names(ids), decide));
          isMore = ids.length === FORGOTTEN_MAX;
        }
        return undefined;
      }),
  };
}

function removal(id: string, request: StoredRequest): Writes {
  return joined(REQUESTS.remove(id, request), { remove: [CLAIMS.name(id)] });
}
