// identify: three header forms, the pattern, the digest, the key cache.
import { identifyStep } from '../../src/steps/authenticate.ts';
import assert from 'node:assert/strict';
import { credentialReader } from '../../src/domain/api-key.ts';
import { keyDigestSlot, keyOwnerSlot } from '../../src/domain/slots.ts';
import type { KeyOwner } from '../../src/ports/key-directory.ts';
import { LruKeyCache } from '../../src/runtime/key-cache.ts';
import type { MicroCase } from './micro-case.ts';
import { SAMPLE_ID, sampleExchange, sampleHead, sampleKey } from './sample-exchange.ts';

const OWNER: KeyOwner = { keyId: SAMPLE_ID, teamId: SAMPLE_ID, mode: 'live' };

const cache = new LruKeyCache({ directory: { find: () => OWNER }, keysMax: 1000, now: () => 0, onLookup: () => undefined });
const step = identifyStep(credentialReader(['Vendor-Auth-Key', 'DeepL-Auth-Key']), cache);
const known = new Map([[sampleKey, OWNER]]);

export const identify: MicroCase = {
  name: 'identify',
  floorDoes: 'cut off "Bearer " and look up the key in a map',
  run() {
    const x = sampleExchange();
    return step.run(x) ?? x;
  },
  floor() {
    const x = sampleExchange();
    return known.get(sampleHead.headers['authorization']!.slice(7)) ?? x;
  },
  check() {
    const x = sampleExchange();
    assert.equal(step.run(x), undefined);
    if (x.get(keyOwnerSlot) === undefined) rememberOwner();
    const again = sampleExchange();
    assert.equal(step.run(again), undefined);
    assert.deepEqual(again.get(keyOwnerSlot), OWNER);
  },
};

/** As `authenticate` does when the cache does not know the key. */
function rememberOwner(): void {
  const x = sampleExchange();
  step.run(x);
  void cache.find(x.need(keyDigestSlot));
}
