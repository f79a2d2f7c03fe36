// The service of documents for plugins while the store is away: a waiting caller is not refused, and what is abandoned goes later.
import { expect, onTestFinished, test, vi } from 'vitest';
import { documentServices } from '../../../src/app/documents-for-plugins.ts';
import type { DocumentServicesOptions } from '../../../src/app/documents-for-plugins.ts';
import type { Exchange } from '../../../src/core/exchange.ts';
import { STORE_UNAVAILABLE } from '../../../src/domain/refusals.ts';
import type { DocumentRecord } from '../../../src/ports/documents.ts';
import { newId } from '../../../src/testing/store/team-under-test.ts';

const AWAY = { kind: 'unavailable', cause: 'timeout' } as const;
const documentId = newId();
const caller = { cancelled: false, need: () => ({ teamId: 'T1' }) } as unknown as Exchange;

function scene(found: readonly (Partial<DocumentRecord> | typeof AWAY)[], removed: readonly (boolean | typeof AWAY)[] = []) {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const [finds, removals] = [[...found], [...removed]];
  const asked: string[] = [];
  const record = { documentId, teamId: 'T1', fileName: 'a.txt', untilMs: Infinity };
  const options = {
    upload: { keepMs: 3_600_000 },
    endpoints: {
      documents: {
        find: async () => {
          const one = finds.length > 1 ? finds.shift()! : finds[0]!;
          return 'kind' in one ? one : { ...record, ...one };
        },
      },
      remove: async ({ documentId: id }: { readonly documentId: string }) => {
        asked.push(id);
        return removals.shift() ?? true;
      },
      nowMs: () => 0,
    },
    now: () => performance.now(),
  } as unknown as DocumentServicesOptions;
  return { services: documentServices(options), removals: asked };
}

test('a store that is away for a moment does not end the wait', async () => {
  const { services } = scene([AWAY, { state: 'translating' }, AWAY, { state: 'done', billed: 5 }]);
  const ended = services.ended(caller, documentId, 60_000);
  await vi.advanceTimersByTimeAsync(5000);
  expect(await ended).toMatchObject({ state: 'done', billed: 5 });
});

test('a store that is away to the end of the wait is told as such', async () => {
  const { services } = scene([AWAY]);
  const ended = services.ended(caller, documentId, 10_000);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await ended).toBe(STORE_UNAVAILABLE);
});

test('what is abandoned is removed once the store is back, and no longer asked for then', async () => {
  const { services, removals } = scene([AWAY, AWAY, { state: 'translating' }], [AWAY, true]);
  await services.abandon(caller, documentId);
  expect(removals).toEqual([]);
  await vi.advanceTimersByTimeAsync(600_000);
  expect(removals).toEqual([documentId, documentId]);
});

test('what was translated when it was abandoned is waited for: it is charged', async () => {
  const { services } = scene([{ state: 'translating' }, { state: 'translating' }, { state: 'done', billed: 5 }], [false]);
  const stays = services.abandon(caller, documentId);
  await vi.advanceTimersByTimeAsync(5000);
  expect(await stays).toMatchObject({ state: 'done', billed: 5 });
});
