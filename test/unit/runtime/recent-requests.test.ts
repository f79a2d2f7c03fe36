// What a process remembers of requests that were refused or met a failure: which, how many, in which order.
import { expect, test } from 'vitest';
import type { AccessEntry } from '../../../src/ports/access-entry.ts';
import { RECENT_MAX, RecentRequests } from '../../../src/runtime/recent-requests.ts';
import { ACCESS_ENTRY } from '../../support/access-entry.ts';

function recorded(entries: readonly Partial<AccessEntry>[]): RecentRequests {
  const recent = new RecentRequests(() => 7);
  entries.forEach((entry, index) => recent.record({ ...ACCESS_ENTRY, requestId: String(index).padStart(6, '0'), ...entry }));
  return recent;
}

test('good requests and callers who left are not kept; refusals, failures and answers after a failed attempt are', () => {
  const recent = recorded([
    {},
    { status: undefined, code: 'client_closed' },
    { status: 400, code: 'validation_error', parameter: 'text[1]' },
    { status: 429, code: 'rate_limited', limitOf: 'key' },
    { status: 503, code: 'engine_unavailable', failures: ['timeout', 'connect:refused'] },
    { failures: ['reset'] },
  ]);
  expect(recent.snapshot()).toEqual([
    expect.objectContaining({ requestId: '000005', status: 200, code: 'ok', failures: ['reset'], atMs: 7 }),
    expect.objectContaining({ requestId: '000004', status: 503, failures: ['timeout', 'connect:refused'] }),
    expect.objectContaining({ requestId: '000003', status: 429, limitOf: 'key' }),
    expect.objectContaining({ requestId: '000002', status: 400, parameter: 'text[1]' }),
  ]);
});

test('a flood of refusals pushes out the oldest refusals, and no failure', () => {
  const failed = [{ status: 503, code: 'engine_unavailable' }];
  const recent = recorded([...failed, ...Array.from({ length: RECENT_MAX + 10 }, () => ({ status: 429, code: 'rate_limited' }))]);
  const kept = recent.snapshot();
  expect(kept).toHaveLength(RECENT_MAX + 1);
  expect(kept[0]!.requestId).toBe(String(RECENT_MAX + 10).padStart(6, '0'));
  expect(kept.at(-2)!.requestId).toBe('000011');
  expect(kept.at(-1)!.code).toBe('engine_unavailable');
});
