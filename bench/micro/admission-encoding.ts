// The admission on its way to Redis and back: its text out, the answer in.
import assert from 'node:assert/strict';
import type { AdmissionRequest } from '../../src/ports/ledger.ts';
import { admissionText, readAdmission } from '../../src/stores/redis/admission-codec.ts';
import type { OperationReply } from '../../src/stores/redis/admission-codec.ts';
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
const reply: OperationReply = { kind: 'reply', text: `admitted ${CHARACTERS} 1700000060000` };

export const admissionEncoding: MicroCase = {
  name: 'admission encoding',
  floorDoes: 'one text of the same words, one object',
  run: () => [admissionText(request), readAdmission(request, reply)],
  floor: () => [
    `${request.requestId} ${request.keyId} ${CHARACTERS} ${LEASE_MS}`,
    { kind: 'admitted', reservation: { requestId: request.requestId, teamId: request.teamId, characters: CHARACTERS } },
  ],
  check() {
    const words = admissionText(request).split(' ');
    assert.ok(words.includes(request.requestId) && words.includes(String(CHARACTERS)));
    const admission = readAdmission(request, reply);
    assert.equal(admission.kind, 'admitted');
    assert.equal(admission.reservation?.characters, CHARACTERS);
  },
};
