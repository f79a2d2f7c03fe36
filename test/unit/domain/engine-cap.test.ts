// The windows of an engine's limit are those of UTC.
import { expect, test } from 'vitest';
import { capWindow } from '../../../src/domain/engine-cap.ts';

test.each([
  ['minute', '2026-11-24T13:59:59.999Z', '2026-11-24T13:59:00Z', '2026-11-24T14:00:00Z'],
  ['hour', '2026-11-24T13:59:59.999Z', '2026-11-24T13:00:00Z', '2026-11-24T14:00:00Z'],
  ['day', '2028-02-29T00:00:00Z', '2028-02-29T00:00:00Z', '2028-03-01T00:00:00Z'],
  ['week', '2026-11-22T23:59:59.999Z', '2026-11-16T00:00:00Z', '2026-11-23T00:00:00Z'],
  ['week', '2026-11-23T00:00:00Z', '2026-11-23T00:00:00Z', '2026-11-30T00:00:00Z'],
  ['month', '2026-12-31T23:59:59.999Z', '2026-12-01T00:00:00Z', '2027-01-01T00:00:00Z'],
] as const)('the %s of %s is from %s to %s', (per, now, start, end) => {
  expect(capWindow(per, Date.parse(now))).toEqual({ startMs: Date.parse(start), endMs: Date.parse(end) });
});
