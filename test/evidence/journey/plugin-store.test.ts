// A plugin's store under the gateway and the command line: opened by its scheme, like ours.
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { loadConfig, startApp } from '../../support/door/gateways.ts';
import { answered } from '../../../src/index.ts';
import { EVENTS_SECRET, startManualReceiver } from '../../support/event-receiver.ts';
import { makeTeam, QUOTA_PLAN } from '../../support/gateway.ts';
import { inProcess, parsed } from '../../support/lingate-command.ts';
import reference from '../../support/plugins/reference-plugin.ts';
import { untilOneDay } from '../../support/one-day.ts';
import { SILENT } from '../../support/silent-log.ts';
import { startedUntil } from '../../support/started.ts';

const MODULE = fileURLToPath(new URL('../../support/plugins/reference-plugin.ts', import.meta.url));
const FREE = { listen: '127.0.0.1:0', ops: '127.0.0.1:0', listener: 'node' };

await untilOneDay();
const { folder } = startedUntil(afterAll);

function configured(name: string, config: Readonly<Record<string, unknown>>): string {
  const file = join(folder, name);
  writeFileSync(file, JSON.stringify(config));
  return file;
}

test('a gateway serves from it, and sends its events', async () => {
  const started = startedUntil(onTestFinished);
  const [engine, receiver] = [await started.engine(), await startManualReceiver()];
  started.closes(() => receiver.end());
  const file = configured('serve.yaml', {
    ...FREE,
    store: 'memory:here',
    engine: { urls: [engine.url] },
    plugins: [{ module: MODULE }],
    events: { url: receiver.url, secret: EVENTS_SECRET, thresholds: [100] },
  });
  const app = await startApp(loadConfig({ file, env: {} }), { logDestination: { write: () => undefined } });
  started.closes(() => app.life.stop());
  const never = (): never => expect.unreachable();
  const parts = await reference.setup({}, { refuse: never, reserveSlot: never, log: () => undefined, warn: () => undefined });
  const store = await parts.stores!['memory']!('memory:here', { log: SILENT, clock: { nowMs: () => Date.now() }, historyDays: 400 });
  const { key, teamId } = await makeTeam(store, { ...QUOTA_PLAN, characters: 5 });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const answer = await fetch(`${app.listenUrl}/v1/translate`, { method: 'POST', headers, body: '{"text":["Hello"],"target_lang":"DE"}' });
  expect(await answer.json()).toMatchObject({ translations: [{ text: '[DE] Hello' }] });
  await expect.poll(async () => answered(await store.teams.usage(teamId))?.characters).toBe(5);
  const reported = (): string[] => receiver.lines().flatMap((line) => (line.split(' ')[1] === teamId ? line.split(' ')[0]! : []));
  await expect.poll(() => reported().toSorted()).toEqual(['lingate.key.created', 'lingate.quota.threshold', 'lingate.team.created']);
});

test('commands open it too', async () => {
  const file = configured('list.yaml', { store: 'memory:here', plugins: [{ module: MODULE }] });
  const { teams } = parsed(await inProcess(['team', 'list', '--config', file, '--json'])) as { teams: unknown[] };
  expect(teams.length).toBeGreaterThan(0);
});

test('a scheme that no plugin provides is one line', async () => {
  const unknown = configured('unknown.yaml', { store: 'other:here', plugins: [{ module: MODULE }] });
  expect(await inProcess(['team', 'list', '--config', unknown])).toEqual({
    status: 1,
    stdout: '',
    stderr: expect.stringMatching(/^lingate team list: store other:here: must be one of sqlite:PATH, [^\n]+\n$/) as string,
  });
  const none = configured('none.yaml', { store: 'other:here' });
  expect((await inProcess(['team', 'list', '--config', none])).stderr).toMatch(/store: "other:here" is not one of sqlite:PATH, [^\n]+\n$/);
});
