// The admission on its way to Redis and back: keys and arguments out, the answer in.
import assert from 'node:assert/strict';
import type { AdmissionRequest } from '../../src/ports/ledger.ts';
import { admissionCall, readAdmission } from '../../src/stores/redis/admission-codec.ts';
import type { ScriptReply } from '../../src/stores/redis/script-caller.ts';
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
const reply: ScriptReply = { kind: 'reply', word: 'admitted', values: [1_700_000_000_000, 'admitted', CHARACTERS, 1_700_000_060_000] };

export const admissionEncoding: MicroCase = {
  name: 'admission encoding',
  floorDoes: 'one array of the same strings, one object',
  run: () => [admissionCall(request), readAdmission(request, reply)],
  floor: () => [
    [
      `lg:{${request.teamId}}:team`,
      `lg:{${request.teamId}}:window`,
      request.requestId,
      request.keyId,
      String(CHARACTERS),
      String(LEASE_MS),
    ],
    { kind: 'admitted', reservation: { requestId: request.requestId, teamId: request.teamId, characters: CHARACTERS } },
  ],
  check() {
    const { keys, args } = admissionCall(request);
    assert.ok(keys.every((key) => key.includes(`{${request.teamId}}`)));
    assert.ok(args.includes(request.requestId) && args.includes(String(CHARACTERS)));
    const admission = readAdmission(request, reply);
    assert.equal(admission.kind, 'admitted');
    assert.equal(admission.reservation?.characters, CHARACTERS);
  },
};
