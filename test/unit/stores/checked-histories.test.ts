// The check finds nothing after any step of random histories, on any store, whatever is used, deleted, backed up and copied.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { referenceStore } from '../../support/reference-store.ts';
import { MovableClock } from '../../../src/testing/movable-clock.ts';
import type { Agreement } from '../../support/model/agreement.ts';
import { CheckedContender, DATABASES } from '../../support/model/checked-contender.ts';
import { keptHistory } from '../../support/model/history.ts';
import { replay } from '../../support/model/replay.ts';
import { COMMAND_VARIABLE } from '../../support/start-program.ts';
import { startRedis } from '../../support/redis.ts';
import type { RedisServer } from '../../support/redis.ts';

/** `npm run task -- test:long` tries five times as many, with another seed each time. */
const RUNS = process.env[COMMAND_VARIABLE] === 'test:long' ? 30 : 6;
const SHRUNK_PATH = process.env['LINGATE_PROPERTY_PATH'];
const STEPS_MAX = 40;
const TIMEOUT_MS = 120_000 + RUNS * 15_000;

const clock = new MovableClock();
const folder = mkdtempSync(join(tmpdir(), 'lingate-checked-'));
let redis: RedisServer;

beforeAll(async () => {
  redis = await startRedis(['--databases', String(DATABASES)]);
});
afterAll(async () => {
  await redis.stop();
  rmSync(folder, { recursive: true, force: true });
});

it(
  'the check finds nothing after any step',
  async () => {
    let [checks, moves] = [0, 0];
    // Between them, each kind is copied to each other.
    const others = [
      new CheckedContender(['SQLite', 'Redis', 'plugin'], clock, folder, redis.url),
      new CheckedContender(['Redis', 'SQLite', 'plugin'], clock, folder, redis.url),
    ];
    const check = async (agreement: Agreement): Promise<void> => {
      for (const other of others) {
        const faults = await other.faults();
        if (faults !== '') throw agreement.failure(faults);
        checks++;
      }
    };
    const sound = fc.asyncProperty(keptHistory(STEPS_MAX), async (drawn) => {
      for (const other of others) await other.open();
      try {
        await replay(drawn, { clock }, { name: 'the model', stores: [referenceStore(clock)] }, others, check);
      } finally {
        for (const other of others) await other.close();
      }
    });
    await fc.assert(sound, { numRuns: RUNS, ...(SHRUNK_PATH === undefined ? {} : { path: SHRUNK_PATH }) });
    moves = others.reduce((sum, other) => sum + other.moves + other.refusals, 0);
    expect(checks).toBeGreaterThan(RUNS);
    expect(moves).toBeGreaterThan(0);
  },
  TIMEOUT_MS,
);
