// Several gateway processes share one store: limits hold across all of them, exact to the request and the character.
import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Store } from '../../../src/ports/store.ts';
import { inProcess, parsed } from '../../support/lingate-command.ts';
import { QUOTA_PLAN, makeTeam } from '../../support/gateway.ts';
import type { TestTeam } from '../../support/gateway.ts';
import { startGatewayProcess } from '../../support/gateway-process.ts';
import type { GatewayProcess } from '../../support/gateway-process.ts';
import { startScriptedEngine } from '../../../src/testing.ts';
import type { ScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import { openBeside, storePlace } from '../../support/store-place.ts';
import type { StorePlace } from '../../support/store-place.ts';

describe.each(['sqlite', 'redis'] as const)('two processes on %s', (kind) => {
  let place: StorePlace;
  let url: string;
  let engine: ScriptedEngine;
  let gateways: GatewayProcess[];
  let store: Store;

  beforeAll(async () => {
    place = await storePlace(kind);
    ({ url } = place);
    engine = await startScriptedEngine();
    // A busy machine may take longer for 100 requests than a turn of the event loop should take: none is to be shed.
    const file = `${place.folder}/patient.yaml`;
    await writeFile(file, 'limits: { shed_loop_delay_ms: 0 }\nstore_options: { command_timeout_ms: 10000 }\n');
    const args = ['serve', '--config', file, '--listen', '127.0.0.1:0', '--ops', '127.0.0.1:0', '--store', url, '--engine-url', engine.url];
    gateways = [await startGatewayProcess({ args }), await startGatewayProcess({ args })];
    store = await openBeside(url);
  });

  afterAll(async () => {
    expect(await Promise.all(gateways.map((gateway) => gateway.end('SIGTERM')))).toEqual([0, 0]);
    await store.close();
    await engine.close();
    await place.remove();
  });

  function translate(index: number, key: string, text = '0123456789'): Promise<Response> {
    return fetch(`${gateways[index % 2]!.url}/v1/translate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ text: [text], target_lang: 'DE' }),
    });
  }

  /** Status counts of `count` requests that are sent at once, alternating between both processes. */
  async function flood(count: number, team: TestTeam): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    const responses = await Promise.all(Array.from({ length: count }, (_, index) => translate(index, team.key)));
    for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1;
    await Promise.all(responses.map((response) => response.arrayBuffer()));
    return counts;
  }

  const settled = (team: TestTeam) => expect.poll(() => store.teams.standing(team.teamId));

  test.each([1, 7, 50])('with a limit of %i per second, 200 concurrent requests admit exactly as many in any second', async (limit) => {
    const team = await makeTeam(store, { ...QUOTA_PLAN, requests_per_second: limit });
    // The connections and the key cache are warm, so that the burst fits into one second of the store's clock.
    const startedAt = Date.now();
    const counts = await flood(200, team);
    const seconds = Math.floor((Date.now() - startedAt) / 1000) + 1;
    const admitted = counts['200'] ?? 0;
    expect((counts['200'] ?? 0) + (counts['429'] ?? 0)).toBe(200);
    expect(admitted).toBeGreaterThanOrEqual(limit);
    expect(admitted).toBeLessThanOrEqual(limit * seconds);
    await settled(team).toMatchObject({ usedCharacters: admitted * 10, heldCharacters: 0, openReservations: 0 });
  });

  test('a quota of 500 characters admits exactly 50 requests of 10', async () => {
    const team = await makeTeam(store, { ...QUOTA_PLAN, characters: 500 });
    expect(await flood(200, team)).toEqual({ 200: 50, 402: 150 });
    await settled(team).toMatchObject({ usedCharacters: 500, heldCharacters: 0, openReservations: 0 });
  });

  test('50 failures release everything they held', async () => {
    const team = await makeTeam(store, { ...QUOTA_PLAN, characters: 500 });
    engine.always('not_json');
    expect(await flood(50, team)).toEqual({ 503: 50 });
    await settled(team).toMatchObject({ usedCharacters: 0, heldCharacters: 0, openReservations: 0 });
    engine.always('ok');
    expect(await flood(60, team)).toEqual({ 200: 50, 402: 10 });
  });

  test('a key revoked by the command line is refused at its next request by every process, though it was cached', async () => {
    const team = await makeTeam(store);
    for (const index of [0, 1]) expect((await translate(index, team.key)).status).toBe(200);
    expect(parsed(await inProcess(['key', 'revoke', team.keyId, '--store', url, '--json']))).toEqual({
      key_id: team.keyId,
      status: 'revoked',
    });
    for (const index of [0, 1]) {
      const response = await translate(index, team.key);
      expect(response.status).toBe(401);
      expect(await response.json()).toMatchObject({ code: 'key_revoked' });
    }
  });

  test('a key created by the command line works at once', async () => {
    const team = await makeTeam(store);
    const args = ['key', 'create', '--team', team.teamId, '--mode', 'live', '--store', url, '--json'];
    const { key } = parsed(await inProcess(args)) as { key: string };
    for (const index of [0, 1]) expect((await translate(index, key)).status).toBe(200);
  });

  test('a process that is killed with requests in flight charges nothing for them, and the lease frees what they held', async () => {
    const team = await makeTeam(store, { ...QUOTA_PLAN, characters: 100 });
    const args = ['serve', '--listen', '127.0.0.1:0', '--ops', '127.0.0.1:0', '--store', url, '--engine-url', engine.url];
    const config = `${place.folder}/short-lease.yaml`;
    await writeFile(config, 'limits: { reservation_seconds: 3 }\nengine: { timeout_ms: 1000 }\n');
    const doomed = await startGatewayProcess({ args: [...args, '--config', config] });
    engine.behave('hang', 'hang');
    const before = engine.requests.length;
    const requests = [0, 1].map(() =>
      fetch(`${doomed.url}/v1/translate`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${team.key}` },
        body: JSON.stringify({ text: ['0123456789'], target_lang: 'DE' }),
      }).then(
        () => 'answered',
        () => 'broken',
      ),
    );
    await engine.until(() => engine.requests.length >= before + 2);
    expect(await store.teams.standing(team.teamId)).toMatchObject({ heldCharacters: 20, openReservations: 2 });
    expect(await doomed.end('SIGKILL')).toBe('SIGKILL');
    expect(await Promise.all(requests)).toEqual(['broken', 'broken']);
    await settled(team).toMatchObject({ usedCharacters: 0, heldCharacters: 0, openReservations: 0 });
  });
});
