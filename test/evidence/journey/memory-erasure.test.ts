// A team is deleted while its requests are under way: no translation of it remains in the process or in the shared Redis.
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import type { ScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import type { TestGateway, TestTeam } from '../../support/gateway.ts';
import { inProcess, parsed } from '../../support/lingate-command.ts';
import { LISTENERS } from '../../support/listeners.ts';
import { isHeld, release } from '../../support/plugins/held-texts.ts';
import { request } from '../../support/raw-http.ts';
import { connected, LEARNT_MS, ownFigures, startSharedMemory, translated } from '../../support/shared-memory.ts';
import { startedUntil } from '../../support/started.ts';

const HELD_TEXTS = fileURLToPath(new URL('../../support/plugins/held-texts.ts', import.meta.url));
const TOKEN = randomBytes(24).toString('hex');

interface Scene {
  readonly gateway: TestGateway;
  readonly engine: ScriptedEngine;
}

/** A request that is under way until it is continued. */
interface UnderWay {
  continue(): Promise<readonly string[]>;
}

/** Waits for the engine. Engine calls are made one after the other, so the next one is that of this request. */
async function atEngine({ gateway, engine }: Scene, team: TestTeam, text: string): Promise<UnderWay> {
  let answer = (): void => undefined;
  const asked = new Promise<void>((resolve) => {
    engine.behave((_request, response) => {
      answer = () => void response.writeHead(200).end(JSON.stringify({ translations: [{ text: `[DE] ${text}` }] }));
      resolve();
    });
  });
  const response = translated(gateway, team, text);
  await Promise.race([asked, response]);
  return { continue: () => (answer(), response) };
}

/** Admitted, but still in a stage before the memory. */
async function beforeMemory({ gateway }: Scene, team: TestTeam, text: string): Promise<UnderWay> {
  const held = `held ${text}`;
  const response = translated(gateway, team, held);
  await Promise.race([expect.poll(() => isHeld(held)).toBe(true), response]);
  return { continue: () => (release(held), response) };
}

test(
  'nothing of a deleted team is left, whatever its requests were doing, and another team keeps everything',
  { timeout: 120_000 },
  async () => {
    const started = startedUntil(onTestFinished);
    const [memory, engine] = [await startSharedMemory(), await started.engine()];
    started.closes(() => memory.stop());
    const { url } = await started.place('sqlite');
    const plugins = [{ module: HELD_TEXTS }, memory.plugin];
    const file = join(started.folder, 'command.yaml');
    writeFileSync(file, JSON.stringify({ store: url, plugins }));
    const config = { plugins, admin: { token: TOKEN }, engine: { timeout_ms: 29_000 } };
    const gateway = await started.gateway({ listener: LISTENERS[0], store: url, engineUrls: [engine.url], config });
    const scene = { gateway, engine };

    const stays = await gateway.team();
    await connected(memory, gateway, stays);
    await translated(gateway, stays, 'kept');
    const ofStays = await ownFigures(gateway);

    const [byCommand, byApi] = [await gateway.team(), await gateway.team()];
    const doomed = [byCommand, byApi];
    for (const team of doomed) await translated(gateway, team, 'doomed one', 'doomed two');
    await expect.poll(() => memory.teams()).toEqual([stays, byCommand, byApi].map(({ teamId }) => teamId).toSorted());
    expect((await ownFigures(gateway)).entries).toBe(ofStays.entries + 4);
    const early = await both(doomed, (team, i) => atEngine(scene, team, `doomed early ${i}`));
    const delayed = await both(doomed, (team, i) => atEngine(scene, team, `doomed late ${i}`));
    const slow = await both(doomed, (team, i) => beforeMemory(scene, team, `doomed slow ${i}`));

    parsed(await inProcess(['team', 'delete', byCommand.teamId, '--yes', '--json', '--config', file]));
    const headers = { host: '127.0.0.1', authorization: `Bearer ${TOKEN}` };
    const path = `/admin/v1/teams/${byApi.teamId}`;
    expect((await request({ port: gateway.opsPort, method: 'DELETE', path, headers })).status).toBe(204);
    // The gateway may still remember these: it learns of the deletions within seconds.
    expect(await both(early, (one) => one.continue())).toEqual([['[DE] doomed early 0'], ['[DE] doomed early 1']]);
    await expect.poll(() => ownFigures(gateway), { timeout: LEARNT_MS }).toEqual(ofStays);
    await expect.poll(() => memory.teams(), { timeout: LEARNT_MS }).toEqual([stays.teamId]);

    expect(await both(delayed, (one) => one.continue())).toEqual([['[DE] doomed late 0'], ['[DE] doomed late 1']]);
    expect(await both(slow, (one) => one.continue())).toEqual([['[DE] held doomed slow 0'], ['[DE] held doomed slow 1']]);
    expect(await ownFigures(gateway)).toEqual(ofStays);
    // Written on the same connection, so after whatever the delayed requests have written.
    await connected(memory, gateway, stays);
    expect(await memory.teams()).toEqual([stays.teamId]);
    expect(await memory.content()).not.toContain('doomed');
    const requests = engine.requests.length;
    expect(await translated(gateway, stays, 'kept')).toEqual(['[DE] kept']);
    expect(engine.requests).toHaveLength(requests);
  },
);

/** One after the other. */
async function both<T, R>(of: readonly T[], what: (one: T, i: number) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = [];
  for (const [i, one] of of.entries()) results.push(await what(one, i));
  return results;
}
