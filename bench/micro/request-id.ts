// A request's id, beside the same from the package ulid. Ten to a millisecond, as in a busy gateway.
import assert from 'node:assert/strict';
import { randomFillSync } from 'node:crypto';
import { monotonicFactory } from 'ulid';
import { canonicalUlid, ulidSource } from '../../src/domain/ulid.ts';
import type { MicroCase } from './micro-case.ts';

const IDS_PER_MS = 10;

/** A clock that moves with the ids, so that the speed of the machine does not change how many there are in a millisecond. */
function clock(): () => number {
  let ids = 0;
  return () => 1_763_769_600_000 + Math.floor(ids++ / IDS_PER_MS);
}

/** The package asks the system for each random digit of an id; with a pool it costs a twelfth of that. */
const pool = new Uint8Array(4096);
let used = pool.length;
function fromPool(): number {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  return pool[used++]! / 256;
}

const next = ulidSource(clock());
const [packaged, packagedNowMs] = [monotonicFactory(fromPool), clock()];

export const requestId: MicroCase = {
  name: 'request id',
  floorDoes: 'monotonicFactory of ulid, with random bytes from a pool',
  run: next,
  floor: () => packaged(packagedNowMs()),
  check() {
    const before = next();
    assert.equal(canonicalUlid(before), before);
    assert.ok(next() > before);
  },
};
