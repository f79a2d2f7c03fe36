// Two gateways share a Redis as the memory, and an operator clears it: neither answers with an older translation, on both stores.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startScriptedEngine } from '../../../src/testing.ts';
import type { ScriptedRequest } from '../../../src/testing/scripted-engine.ts';
import { startGateway } from '../../support/gateway.ts';
import { inProcess, parsed } from '../../support/lingate-command.ts';
import { LISTENERS } from '../../support/listeners.ts';
import { connected, LEARNT_MS, ownFigures, startSharedMemory, translated } from '../../support/shared-memory.ts';
import { storePlace } from '../../support/store-place.ts';

describe.each(['sqlite', 'redis'] as const)('over %s', (kind) => {
  test('a cleared team, and then all teams, get the new engine’s translations from either', { timeout: 120_000 }, async () => {
    const [place, memory] = await Promise.all([storePlace(kind), startSharedMemory()]);
    /** Every translation names the model. */
    let model = 'old';
    const right = ({ body }: ScriptedRequest): string => {
      const { text } = JSON.parse(body) as { text: readonly string[] };
      return JSON.stringify({ translations: text.map((one) => ({ text: `${model} ${one}` })) });
    };
    const engine = await startScriptedEngine({ right });
    const plugins = [memory.plugin];
    const file = join(place.folder, 'command.yaml');
    writeFileSync(file, JSON.stringify({ store: place.url, plugins }));
    const start = () =>
      startGateway({
        listener: LISTENERS[0],
        store: place.url,
        engineUrls: [engine.url],
        config: { plugins, engine: { timeout_ms: 29_000 } },
      });
    const gateways = [await start(), await start()] as const;
    const [one, other] = gateways;
    try {
      const clear = async (...more: readonly string[]): Promise<void> =>
        void parsed(await inProcess(['memory', 'clear', '--yes', ...more, '--json', '--config', file]));
      const entries = async (): Promise<readonly number[]> => [(await ownFigures(one)).entries, (await ownFigures(other)).entries];
      const [cleared, kept] = [await one.team(), await one.team()];
      const teamIds = [cleared, kept].map(({ teamId }) => teamId).toSorted();
      for (const gateway of gateways) await connected(memory, gateway, kept);
      const before = await entries();

      for (const team of [cleared, kept]) await translated(one, team, 'Hello', 'World');
      await expect.poll(() => memory.teams()).toEqual(teamIds);
      const asked = engine.requests.length;
      for (const team of [cleared, kept]) expect(await translated(other, team, 'Hello', 'World')).toEqual(['old Hello', 'old World']);
      expect(engine.requests).toHaveLength(asked);
      expect(await entries()).toEqual(before.map((count) => count + 4));

      const answers: (() => void)[] = [];
      for (let i = 0; i < 2; i++) {
        engine.behave((_request, response) =>
          answers.push(() => void response.writeHead(200).end('{"translations":[{"text":"old late"}]}')),
        );
      }
      const late = gateways.map((gateway) => translated(gateway, cleared, 'late'));
      await engine.until(() => answers.length === 2);
      await clear('--team', cleared.teamId);
      expect(await memory.teams()).toEqual([kept.teamId]);
      model = 'new';
      await expect.poll(entries, { timeout: LEARNT_MS }).toEqual(before.map((count) => count + 2));
      for (const answer of answers) answer();
      expect(await Promise.all(late)).toEqual([['old late'], ['old late']]);
      expect(await translated(other, cleared, 'Hello', 'late')).toEqual(['new Hello', 'new late']);
      expect(await translated(other, kept, 'Hello', 'World')).toEqual(['old Hello', 'old World']);
      // Of the cleared team there is only what came from the new engine, also for the gateway that has it from Redis.
      await expect.poll(() => memory.teams()).toEqual(teamIds);
      expect(await translated(one, cleared, 'Hello', 'late', 'World')).toEqual(['new Hello', 'new late', 'new World']);

      await clear();
      expect(await memory.teams()).toEqual([]);
      await expect.poll(entries, { timeout: LEARNT_MS }).toEqual([0, 0]);
      for (const gateway of gateways) expect(await translated(gateway, kept, 'Hello', 'World')).toEqual(['new Hello', 'new World']);
      expect(await memory.content()).not.toContain('old ');
    } finally {
      for (const gateway of gateways) await gateway.stop();
      await engine.close();
      await memory.stop();
      await place.remove();
    }
  });
});
