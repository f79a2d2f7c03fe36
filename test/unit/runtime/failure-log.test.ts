// Failed attempts in the log: the first at once, then a count every ten seconds, separately for each engine, replica and failure.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Log, LogFields } from '../../../src/ports/log.ts';
import { FailureLog } from '../../../src/runtime/failure-log.ts';

let lines: { readonly message: string; readonly fields: LogFields | undefined }[];
let failures: FailureLog;

beforeEach(() => {
  vi.useFakeTimers();
  lines = [];
  const log: Log = {
    info: () => undefined,
    warn: (message, fields) => void lines.push({ message, fields }),
    error: () => undefined,
  };
  failures = new FailureLog(log);
});

afterEach(() => vi.useRealTimers());

function fail(failure = 'status', replica = 'http://a', id = 'one', status = 500): void {
  failures.failed('default', replica, failure, id, { replica, failure, status });
}

const logged = () => lines.splice(0).map(({ message, fields }) => [message, fields?.['replica'], fields?.['failure'], fields?.['count']]);

test('the first is logged at once, with its request', () => {
  fail();
  expect(lines).toEqual([
    { message: 'engine attempt failed', fields: { replica: 'http://a', failure: 'status', status: 500, request_id: 'one' } },
  ]);
});

test('the following are counted, in one line every ten seconds, with the details of the latest', () => {
  for (let i = 0; i < 100; i++) fail('status', 'http://a', 'one', 500 + i);
  lines.length = 0;
  vi.advanceTimersByTime(9999);
  expect(lines).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(lines).toEqual([
    { message: 'engine attempts failed', fields: { replica: 'http://a', failure: 'status', status: 599, count: 99 } },
  ]);
  lines.length = 0;
  fail();
  fail();
  vi.advanceTimersByTime(10_000);
  expect(logged()).toEqual([['engine attempts failed', 'http://a', 'status', 2]]);
});

test('after ten seconds without a failure the next counts as the first again', () => {
  fail();
  vi.advanceTimersByTime(20_000);
  fail();
  expect(logged().map(([message]) => message)).toEqual(['engine attempt failed', 'engine attempt failed']);
  expect(vi.getTimerCount()).toBe(1);
});

test('each replica and each failure has lines of its own', () => {
  fail();
  fail('timeout');
  fail('status', 'http://b');
  fail();
  expect(logged()).toEqual([
    ['engine attempt failed', 'http://a', 'status', undefined],
    ['engine attempt failed', 'http://a', 'timeout', undefined],
    ['engine attempt failed', 'http://b', 'status', undefined],
  ]);
  vi.advanceTimersByTime(10_000);
  expect(logged()).toEqual([['engine attempts failed', 'http://a', 'status', 1]]);
});

test('engines with the same URL have lines of their own', () => {
  const failAt = (engine: string): void => failures.failed(engine, 'http://a', 'status', 'one', { engine, status: 500 });
  const engines = () => lines.splice(0).map(({ message, fields }) => [message, fields?.['engine'], fields?.['count']]);
  for (const engine of ['fast', 'good', 'fast', 'fast', 'good']) failAt(engine);
  expect(engines()).toEqual([
    ['engine attempt failed', 'fast', undefined],
    ['engine attempt failed', 'good', undefined],
  ]);
  vi.advanceTimersByTime(10_000);
  expect(engines()).toEqual([
    ['engine attempts failed', 'fast', 2],
    ['engine attempts failed', 'good', 1],
  ]);
});

test('the rest is logged at the end, and no timer is left', () => {
  fail();
  fail();
  lines.length = 0;
  failures.close();
  expect(logged()).toEqual([['engine attempts failed', 'http://a', 'status', 1]]);
  expect(vi.getTimerCount()).toBe(0);
});
