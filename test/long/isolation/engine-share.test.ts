// A team whose slow requests would take every engine connection, at its plan's rate: another team does not notice.
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { QUOTA_PLAN, startGateway } from '../../support/gateway.ts';
import type { TestTeam } from '../../support/gateway.ts';
import { request } from '../../support/raw-http.ts';
import { forMs, openLoop } from '../../evidence/faults/pace.ts';
import { watchStalls } from '../../evidence/faults/stall.ts';
import { LISTENERS } from '../../support/listeners.ts';

const SLOW_MS = 2000;
const ATTACKER_PER_SECOND = 50;
const VICTIM_PER_SECOND = 40;
const ALONE_MS = 3000;
const UNDER_ATTACK_MS = 6000;
/** Half of the default of `engine.connections_max`. */
const SHARE = 32;
/** A request behind a slow call usually waits longer than this; a busy machine alone causes less. */
const NOTICED_MS = SLOW_MS / 2;

test.each(LISTENERS)('on %s', async (listener) => {
  let [slow, slowMost] = [0, 0];
  const engine = createServer((req, res) => {
    let body = '';
    req.on('data', (piece: Buffer) => (body += piece.toString()));
    req.on('end', () => {
      const { text } = JSON.parse(body) as { readonly text: readonly string[] };
      const isSlow = text[0]!.startsWith('slow');
      if (isSlow) slowMost = Math.max(slowMost, ++slow);
      res.once('close', () => (slow -= Number(isSlow)));
      const answer = (): void => void res.end(JSON.stringify({ translations: text.map((entry) => ({ text: `to ${entry}` })) }));
      if (isSlow) setTimeout(answer, SLOW_MS);
      else answer();
    });
  });
  engine.listen(0, '127.0.0.1');
  await once(engine, 'listening');
  const folder = await mkdtemp(join(tmpdir(), 'lingate-share-'));
  const gateway = await startGateway({
    listener,
    store: `sqlite:${folder}/lingate.db`,
    engineUrls: [`http://127.0.0.1:${(engine.address() as AddressInfo).port}`],
    config: { engine: { timeout_ms: 5000 }, store_options: { command_timeout_ms: 5000 } },
  });
  const attacker = await gateway.team({ ...QUOTA_PLAN, requests_per_second: ATTACKER_PER_SECOND });
  const victim = await gateway.team();
  const ask = async (team: TestTeam, word: string): Promise<number> => {
    const headers = { authorization: `Bearer ${team.key}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ text: [word], source_lang: 'EN', target_lang: 'DE' });
    return (await request({ port: gateway.port, method: 'POST', path: '/v1/translate', headers, body })).status;
  };
  const watch = async (durationMs: number): Promise<{ readonly p99: number; readonly statuses: ReadonlySet<number> }> => {
    const took: number[] = [];
    const statuses = new Set<number>();
    await openLoop(VICTIM_PER_SECOND, forMs(durationMs), async () => {
      const startedAtMs = performance.now();
      statuses.add(await ask(victim, 'quick'));
      took.push(performance.now() - startedAtMs);
    });
    return { p99: took.toSorted((a, b) => a - b)[Math.floor(took.length * 0.99)]!, statuses };
  };
  const alone = await watch(ALONE_MS);
  const stalls = watchStalls();
  const goesOn = forMs(UNDER_ATTACK_MS);
  const attack = (async () => {
    const all: Promise<number>[] = [];
    while (goesOn()) {
      // All of a second's requests at once: the worst that the rate allows.
      for (let i = 0; i < ATTACKER_PER_SECOND; i++) all.push(ask(attacker, `slow${i}`));
      await delay(1000);
    }
    return Promise.all(all);
  })();
  const attacked = await watch(UNDER_ATTACK_MS);
  const statuses = await attack;
  expect([...alone.statuses, ...attacked.statuses]).toEqual([200, 200]);
  // Exactly this number: the victim was active all the time.
  expect(slowMost).toBe(SHARE);
  expect(attacked.p99).toBeLessThan(Math.max(3 * alone.p99, NOTICED_MS) + 3 * stalls.longestMs());
  stalls.stop();
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(SHARE);
  await gateway.stop();
  engine.close();
  engine.closeAllConnections();
  await rm(folder, { recursive: true, force: true });
});
