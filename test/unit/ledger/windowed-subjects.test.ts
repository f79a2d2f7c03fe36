// The subjects of a request in the order in which they are judged, what they refuse, and what is left.
import { describe, expect, test } from 'vitest';
import { WindowCounts } from '../../../src/ledger/counter.ts';
import type { WindowSubject } from '../../../src/domain/window-limits.ts';
import {
  countInWindows,
  nextTickets,
  tooSmallWindow,
  windowedSubjects,
  windowRefusal,
  windowStandings,
} from '../../../src/ledger/windowed-subjects.ts';

const NOW = Date.parse('2026-11-24T10:30:30Z');

function subjects(ofTeam: string, ofKey?: string) {
  const counts = new Map<WindowSubject, WindowCounts>();
  return windowedSubjects(ofTeam, 'K', ofKey, (subject) => counts.get(subject) ?? counts.set(subject, new WindowCounts()).get(subject)!);
}

describe('the subjects of a request', () => {
  test('are none without limits', () => {
    expect(subjects('')).toEqual([]);
    expect(nextTickets([])).toBeUndefined();
  });

  test('are judged the team first, and count together', () => {
    const both = subjects('requests=2/minute', 'requests=1/day characters=5/day');
    expect(nextTickets(both)).toEqual({ team: 1, 'key:K': 1 });
    expect(windowRefusal(both, 5, NOW)).toBeUndefined();
    countInWindows(both, 5, NOW);
    const day = { kind: 'rate_limited', limit: 1, of: 'key', window: { per: 'day', counts: 'requests' } };
    expect(windowRefusal(both, undefined, NOW)).toMatchObject(day);
    expect(windowRefusal(both, undefined, NOW, NOW + 1000)).toMatchObject({ fullForMs: 999 });
    countInWindows(both, 0, NOW);
    const refusal = windowRefusal(both, undefined, NOW);
    expect(refusal).toMatchObject({ limit: 2, retryAfterMs: 30_000, fullForMs: 29_999, window: { per: 'minute' } });
    expect(refusal).not.toHaveProperty('of');
    expect(windowStandings(both, NOW)).toMatchObject([{ remaining: 0 }, { of: 'key', remaining: 0 }, { of: 'key', remaining: 0 }]);
  });

  test('characters may come back, so that a refusal for them holds for no time', () => {
    const one = subjects('characters=5/hour');
    countInWindows(one, 5, NOW);
    expect(windowRefusal(one, 1, NOW)).toMatchObject({ fullForMs: 0, retryAfterMs: 29.5 * 60_000 });
    expect(windowRefusal(one, 6, NOW)).toBeUndefined();
    expect(tooSmallWindow(one, 6, NOW)).toMatchObject({
      kind: 'quota_exceeded',
      characterLimit: 5,
      periodEndMs: Date.parse('2026-11-24T11:00:00Z'),
    });
    expect(tooSmallWindow(one, 5, NOW)).toBeUndefined();
  });
});
