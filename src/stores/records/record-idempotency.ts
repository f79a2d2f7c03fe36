// Requests that take effect once, as shared records: one each, found by when it is forgotten, and beside it the claim of whoever runs it.
import { REQUEST_REMEMBERED_MS } from '../../domain/admission.ts';
import { answeringAll } from '../../domain/store-unavailable.ts';
import type { Claimed, HeldRequest, IdempotencyRecords, RequestClaim } from '../../ports/idempotency-records.ts';
import type { RecordSpace } from '../../ports/record-space.ts';
import { RecordGroup, joined, JsonTable, timeDigits } from './json-table.ts';
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
  const shared = new RecordGroup(space);

  /** Ends the claim, if this holder runs the request. */
  const end = ({ id, holder }: HeldRequest, become: (known: StoredRequest) => StoredRequest | null | undefined) =>
    REQUESTS.change(shared, id, [CLAIMS.name(id)], (known, _head, [held]) => {
      if (known === undefined || CLAIMS.read(held)?.holder !== holder) return { result: undefined };
      return { result: undefined, next: become(known), remove: [CLAIMS.name(id)] };
    });

  const forgetTeam = async (teamId: string): Promise<undefined> => {
    const own = (await REQUESTS.list(shared)).filter(([, known]) => known.teamId === teamId);
    await shared.writeAll(own.map(([id, known]) => removal(id, known)));
  };

  return answeringAll<IdempotencyRecords>({
    forgetTeam,
    async claim({ id, request, recordId, teamId, holder, leaseMs }) {
      const claimed = await REQUESTS.change<Claimed>(shared, id, [CLAIMS.name(id)], (known, { nowMs }, [held]) => {
        const hold = CLAIMS.put(id, { holder, untilMs: nowMs + leaseMs });
        if (known === undefined || known.untilMs <= nowMs) {
          const next = { request, recordId, teamId, untilMs: nowMs + REQUEST_REMEMBERED_MS };
          return { result: { kind: 'claimed', recordId }, next, ...hold };
        }
        if (known.request !== request) return { result: { kind: 'other_request' } };
        if (known.answer !== undefined) return { result: { kind: 'answered', answer: known.answer } };
        const running = CLAIMS.read(held);
        if (running !== undefined && running.holder !== holder && running.untilMs > nowMs) return { result: { kind: 'running' } };
        return { result: { kind: 'claimed', recordId: known.recordId }, ...hold };
      });
      // The group of the shared records always exists.
      return claimed!;
    },
    async finish(held, answer, teamId) {
      await end(held, (known) => ({ ...known, answer, teamId: teamId ?? known.teamId }));
      if (teamId === undefined) return;
      // A deletion of the team either finds the answer, or is seen here.
      if ((await new RecordGroup(space, teamId).head()) === undefined) await forgetTeam(teamId);
    },
    release: (held, next) => end(held, () => (next === 'forget' ? null : undefined)),
    async sweep() {
      const nowMs = time();
      for (let isMore = nowMs !== undefined; isMore;) {
        const entries = await shared.page({ index: INDEX, from: '', below: timeDigits(nowMs! + 1), limit: FORGOTTEN_MAX });
        const ids = entries.map((entry) => entry.slice(entry.indexOf(' ') + 1));
        const decide = (values: readonly (string | undefined)[]) => {
          const known = values.map((value) => REQUESTS.read(value));
          const ended = ids.flatMap((id, i) => (known[i] !== undefined && known[i].untilMs <= nowMs! ? removal(id, known[i]) : []));
          // Also entries whose request is not there: an index that is wrong must stop nobody.
          return { result: true, ...joined(...ended, { unindex: entries.map((id) => ({ index: INDEX, id })) }) };
        };
        if (ids.length > 0) await shared.change(REQUESTS.names(ids), decide);
        isMore = ids.length === FORGOTTEN_MAX;
      }
    },
  });
}

function removal(id: string, request: StoredRequest): Writes {
  return joined(REQUESTS.remove(id, request), { remove: [CLAIMS.name(id)] });
}
