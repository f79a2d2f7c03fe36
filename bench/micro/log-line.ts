// The access log's line, up to where it is passed to the stream.
import assert from 'node:assert/strict';
import { openJsonLog } from '../../src/ops/json-log.ts';
import type { AccessEntry } from '../../src/ports/access-entry.ts';
import { ACCESS_ENTRY } from '../../test/support/access-entry.ts';
import type { MicroCase } from './micro-case.ts';
import { SAMPLE_ID } from './sample-exchange.ts';

let written = '';
const { access, ...log } = openJsonLog({ write: (line: string) => void (written = line) });
const entry: AccessEntry = {
  ...ACCESS_ENTRY,
  requestId: SAMPLE_ID,
  teamId: SAMPLE_ID,
  keyId: SAMPLE_ID,
  characters: 33,
  durationMs: 1.234,
  storeMs: 0.456,
  engineMs: 0.567,
};

export const logLine: MicroCase = {
  name: 'log line',
  floorDoes: 'JSON.stringify of the entry',
  run: () => access.record(entry),
  floor: () => void (written = JSON.stringify(entry)),
  check() {
    log.flush();
    access.record(entry);
    log.flush();
    const { request_id: id, status, characters } = JSON.parse(written) as Record<string, unknown>;
    assert.deepEqual([id, status, characters], [SAMPLE_ID, 200, 33]);
  },
};
