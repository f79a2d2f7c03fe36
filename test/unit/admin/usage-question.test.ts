// Which usage a query requests: defaults, each wrong parameter refused by name, and invalid cursors.
import { describe, expect, test } from 'vitest';
import { cursorOf, readCursor, readUsageQuestion } from '../../../src/admin/usage-question.ts';
import type { UsageQuestion } from '../../../src/admin/usage-rows.ts';
import { dateOf } from '../../../src/domain/usage-days.ts';

const NOW_MS = Date.UTC(2026, 10, 22, 23, 59);
const TEAM = '01JD3Q7V6Y8Z0XKQ4T5N2M9HRC';
const KEY = '01JD3Q7V6Y8Z0XKQ4T5N2M9HRD';
const RANGE = 'from=2026-11-01&to=2026-11-30';

function read(query: string, nowMs = NOW_MS): UsageQuestion {
  const question = readUsageQuestion(new URLSearchParams(query), nowMs);
  return 'fault' in question ? expect.unreachable(JSON.stringify(question)) : question;
}

describe('a query', () => {
  test('without parameters is for the days of the current UTC month', () => {
    const { range, by, keys, teamId } = read('');
    expect([dateOf(range.from), dateOf(range.to), by, keys, teamId]).toEqual(['2026-11-01', '2026-11-30', 'day', false, undefined]);
    const february = read('by=total', Date.UTC(2024, 1, 29)).range;
    expect([dateOf(february.from), dateOf(february.to)]).toEqual(['2024-02-01', '2024-02-29']);
  });

  test('with all parameters', () => {
    const { range, ...rest } = read(`from=2026-10-30&to=2026-11-02&by=month&keys=true&team=${TEAM.toLowerCase()}`);
    expect([dateOf(range.from), dateOf(range.to), rest]).toEqual(['2026-10-30', '2026-11-02', { by: 'month', keys: true, teamId: TEAM }]);
  });

  test.each<[string, string]>([
    ['from=2026-11-01', 'to'],
    ['to=2026-11-01', 'from'],
    ['from=&to=', 'from'],
    ['from=2026-02-30&to=2026-03-01', 'from'],
    ['from=26-1-1&to=2026-03-01', 'from'],
    ['from=2026-03-01&to=2026-02-31', 'to'],
    ['from=2026-03-02&to=2026-03-01', 'to'],
    ['from=2025-10-18&to=2026-11-22', 'to'],
    [`${RANGE}&by=week`, 'by'],
    [`${RANGE}&by=`, 'by'],
    [`${RANGE}&by=Day`, 'by'],
    [`${RANGE}&keys=1`, 'keys'],
    [`${RANGE}&keys=`, 'keys'],
    [`${RANGE}&tags=1`, 'tags'],
    [`${RANGE}&tags=true&keys=true`, 'tags'],
    [`${RANGE}&team=acme`, 'team'],
    [`${RANGE}&team=`, 'team'],
  ])('%s is refused for %s', (query, field) => {
    expect(readUsageQuestion(new URLSearchParams(query), NOW_MS)).toEqual({ field, fault: expect.stringMatching(/\w/) as string });
  });
});

describe('a cursor', () => {
  const question = read(RANGE);

  test.each([
    { teamId: TEAM, row: undefined },
    { teamId: TEAM, row: { date: '2026-11-22', keyId: undefined } },
    { teamId: TEAM, row: { date: '2026-11', keyId: KEY } },
    { teamId: TEAM, row: { date: null, keyId: KEY } },
    { teamId: TEAM, row: { date: null, keyId: undefined } },
    { teamId: TEAM, row: { date: '2026-11-22', keyId: undefined, tag: 'a/~"*b' } },
    { teamId: TEAM, row: { date: null, keyId: undefined, tag: null } },
  ])('can be read back: %j', (place) => {
    const cursor = cursorOf(place, question);
    expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(readCursor(cursor, question)).toEqual(place);
  });

  test.each(['from=2026-11-02&to=2026-11-30', `${RANGE}&by=month`, `${RANGE}&keys=true`, `${RANGE}&team=${TEAM}`])(
    'is refused with another query: %s',
    (query) => {
      const cursor = cursorOf({ teamId: TEAM, row: undefined }, question);
      expect(readCursor(cursor, read(query))).toMatchObject({
        field: 'cursor',
        fault: expect.stringContaining('another query') as string,
      });
    },
  );

  test.each(['', '1', TEAM, 'null', '../../etc', '%00', 'a'.repeat(5000), Buffer.from(`${TEAM}/x/y/z`).toString('base64url'), '🦊'])(
    'that was not issued by the gateway is refused: %s',
    (cursor) => {
      expect(readCursor(cursor, question)).toMatchObject({ field: 'cursor', fault: 'must be the `next` of the previous page' });
    },
  );
});
