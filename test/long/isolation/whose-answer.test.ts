// An engine that answers twice, too long after, early, to others: no team gets another's translation, or pays for what it did not get.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { answered } from '../../../src/index.ts';
import { QUOTA_PLAN, startGateway } from '../../support/gateway.ts';
import type { TestGateway, TestTeam } from '../../support/gateway.ts';
import { request } from '../../support/raw-http.ts';
import { SEED } from '../../support/seed.ts';
import { closedLoop, times } from '../../evidence/faults/pace.ts';
import { MISDEEDS, startUnrulyEngine } from './unruly-engine.ts';
import type { Misdeed } from './unruly-engine.ts';

const REQUESTS = 240;
const PARALLEL = 12;
const TEAMS = 3;
const FORWARD_CHARACTERS = 7;
/** What an engine does on the connection of the request: without ids an answer on another connection cannot be recognized. */
const TO_ITSELF: readonly Misdeed[] = ['twice', 'late', 'early'];

interface Tally {
  right: number;
  wrong: number;
  failed: number;
  /** Wrong answers to requests that were sent after the gateway had noticed. */
  wrongAfterwards: number;
}

interface Case {
  readonly echoes: boolean;
  readonly keepAlive: boolean;
  readonly share: number;
}

const CASES: readonly Case[] = [0.03, 0.3, 1].flatMap((share) =>
  [true, false].flatMap((echoes) => [true, false].map((keepAlive): Case => ({ echoes, keepAlive, share }))),
);

describe.each(CASES)('an engine that misbehaves at $share of its calls, ids echoed: $echoes, keep_alive: $keepAlive', (drawn) => {
  test('gives nobody what was meant for another', async () => {
    const { echoes, keepAlive, share } = drawn;
    const seed = SEED + CASES.indexOf(drawn);
    const engine = await startUnrulyEngine({ echoes, misdeeds: echoes ? MISDEEDS : TO_ITSELF, share, seed });
    const folder = await mkdtemp(join(tmpdir(), 'lingate-whose-'));
    const gateway = await startGateway({
      store: `sqlite:${folder}/lingate.db`,
      engineUrls: [engine.url],
      config: {
        // By default connections are used again: the setting is left out, to test the default.
        engine: { timeout_ms: 2000, connections_max: 6, ...(keepAlive ? {} : { keep_alive: false }) },
        forward: [{ path: '/v1/voices/*', methods: ['GET'], target: engine.url, charge_characters: FORWARD_CHARACTERS }],
        store_options: { command_timeout_ms: 5000 },
      },
    });
    const teams = await Promise.all(Array.from({ length: TEAMS }, () => gateway.team({ ...QUOTA_PLAN, requests_per_second: 10_000 })));
    try {
      const { translated, forwarded } = await run(gateway, teams);
      expect(engine.done.size).toBeGreaterThan(0);
      for (const tally of [translated, forwarded]) {
        const isShared = keepAlive && tally === translated;
        expect({ ...tally, wrong: echoes || !isShared ? tally.wrong : 0 }).toMatchObject({ wrong: 0, wrongAfterwards: 0 });
        expect(tally.right + tally.wrong + tally.failed).toBe(REQUESTS / 2);
        // Two attempts, the second on a connection of its own; answers that go to others sometimes spoil both.
        expect(tally.right).toBeGreaterThan(REQUESTS / 8);
      }
      if (keepAlive) expect(gateway.logLines.filter((line) => line.includes(UNEXPECTED)).length).toBeLessThanOrEqual(1);
    } finally {
      await gateway.stop();
      await engine.close();
      await rm(folder, { recursive: true, force: true });
    }
  });
});

const UNEXPECTED = 'engine sent unexpected bytes';

/** Half of the requests are translations, half go to a forward route. */
async function run(gateway: TestGateway, teams: readonly TestTeam[]): Promise<{ readonly translated: Tally; readonly forwarded: Tally }> {
  const tallies = [0, 1].map((): Tally => ({ right: 0, wrong: 0, failed: 0, wrongAfterwards: 0 }));
  const delivered = teams.map(() => 0);
  await closedLoop(times(REQUESTS), PARALLEL, async (index) => {
    const team = index % TEAMS;
    const word = `word${index}of${team}`;
    const before = gateway.logLines.some((line) => line.includes(UNEXPECTED));
    const headers = { authorization: `Bearer ${teams[team]!.key}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ text: [word], source_lang: 'EN', target_lang: 'DE' });
    const answer = await (index % 2 === 0
      ? request({ port: gateway.port, method: 'POST', path: '/v1/translate', headers, body })
      : request({ port: gateway.port, path: `/v1/voices/${word}`, headers }));
    const tally = tallies[index % 2]!;
    if (answer.status !== 200) {
      expect(answer.status).toBe(503);
      tally.failed++;
      return;
    }
    delivered[team]! += index % 2 === 0 ? word.length : FORWARD_CHARACTERS;
    const right = answer.body.includes(index % 2 === 0 ? `"to ${word}"` : `at /v1/voices/${word}`);
    tally[right ? 'right' : 'wrong']++;
    if (!right && before) tally.wrongAfterwards++;
  });
  for (const [i, { teamId }] of teams.entries()) {
    await expect.poll(async () => answered(await gateway.store.teams.standing(teamId))?.usedCharacters).toBe(delivered[i]);
  }
  return { translated: tallies[0]!, forwarded: tallies[1]! };
}
