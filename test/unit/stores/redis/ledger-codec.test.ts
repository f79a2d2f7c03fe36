// The bytes of a call: a full commit is encoded as always, and partial commits follow everything else.
import { expect, test } from 'vitest';
import { encodeCall } from '../../../../src/stores/redis/ledger-codec.ts';
import type { Settlement } from '../../../../src/stores/redis/ledger-codec.ts';
import { asking } from './fixture.ts';

const COMMIT: Settlement = { requestId: '01ARZ3NDEKTSV4RRFFQ69G5FAV', verdict: 'commit' };
const RELEASE: Settlement = { ...COMMIT, verdict: 'release' };
const ID = '1001563e3ab5d3d6764c61efb99302bd5b';
/** The server's own clock, and a deadline that is never reached. */
const HEAD = `bff0000000000000${'0'.repeat(16)}`;

function hex(...teams: Parameters<typeof encodeCall>[0]): string {
  return encodeCall(teams, undefined, -1, 0).toString('hex');
}

test('a full commit and a release have no bytes for parts', () => {
  const expected = `${HEAD}000002${ID}01${ID}00`;
  expect(hex([COMMIT, RELEASE])).toBe(expected);
  expect(hex([{ ...COMMIT, characters: undefined }, RELEASE])).toBe(expected);
  // A release has no parts.
  expect(hex([COMMIT, { ...RELEASE, characters: 5 }])).toBe(expected);
});

test('a part refers to its operation by its number in the whole call', () => {
  const part = { ...COMMIT, characters: 3 };
  expect(hex([COMMIT], [RELEASE, part])).toBe(
    [`${HEAD}02`, `0001${ID}01`, '00', `0002${ID}00${ID}01`, '0001', '0003', '4008000000000000'].join(''),
  );
});

test('a call that outgrows its buffer has its parts, too', () => {
  const many = Array.from({ length: 3000 }, (_, i): Settlement => ({ requestId: `r${i}`, verdict: 'commit', characters: i }));
  const [small, large] = [hex([asking('r1')], [{ ...COMMIT, characters: 0 }]), hex(many)];
  expect(hex([asking('r1')], [{ ...COMMIT, characters: 0 }])).toBe(small);
  expect(large.slice(-20)).toBe('0bb840a76e0000000000');
});
