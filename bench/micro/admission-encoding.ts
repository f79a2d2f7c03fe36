// Encodes an admission for Redis and decodes the reply.
import assert from 'node:assert/strict';
import type { AdmissionRequest } from '../../src/ports/ledger.ts';
import { encodeCall } from '../../src/stores/redis/ledger-codec.ts';
import { ReplyReader } from '../../src/stores/redis/ledger-reply.ts';
import type { MicroCase } from './micro-case.ts';
import { SAMPLE_ID } from './sample-exchange.ts';

const LEASE_MS = 60_000;
const CHARACTERS = 33;

const request: AdmissionRequest = {
  requestId: SAMPLE_ID,
  teamId: SAMPLE_ID,
  keyId: SAMPLE_ID,
  characters: CHARACTERS,
  reserve: true,
  leaseMs: LEASE_MS,
  glossary: undefined,
};
const reply = Buffer.alloc(9);
reply.writeDoubleBE(1_700_000_000_000);
reply.write('A', 8);
const DEADLINE_MS = 1_700_000_000_500;

export const admissionEncoding: MicroCase = {
  name: 'admission encoding',
  floorDoes: 'one text of the same words, one object',
  run: () => [encodeCall([[request]], undefined, -1, DEADLINE_MS), new ReplyReader(reply).admission(request)],
  floor: () => [
    `${request.requestId} ${request.keyId} ${CHARACTERS} ${LEASE_MS}`,
    { kind: 'admitted', reservation: { requestId: request.requestId, teamId: request.teamId, characters: CHARACTERS } },
  ],
  check() {
    const call = encodeCall([[request]], undefined, -1, DEADLINE_MS);
    assert.ok(call.includes(request.keyId));
    const admission = new ReplyReader(reply).admission(request);
    assert.ok(admission.kind === 'admitted');
    assert.equal(admission.reservation?.characters, CHARACTERS);
    assert.equal(admission.reservation.leaseUntilMs, 1_700_000_000_000 + LEASE_MS);
  },
};
