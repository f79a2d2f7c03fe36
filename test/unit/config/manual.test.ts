// The operator's manual says of every engine protocol what the code says, and each configuration that it shows is one that works.
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { builtInProtocols } from '../../../src/engines/protocols/built-in.ts';
import { currentManual } from '../../../src/manual.ts';
import { startScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import { startGateway } from '../../support/gateway.ts';
import { SUBJECTS } from '../engines/protocols/subjects.ts';

const MANUAL = readFileSync(new URL('../../../config/README.md', import.meta.url), 'utf8');

/** The configuration that the manual shows for a protocol. */
function shownFor(protocol: string): string {
  const section = MANUAL.slice(MANUAL.indexOf(`\n### ${protocol}\n`)).split(/\n##/)[1] ?? '';
  return /```yaml\n([\s\S]*?)```/.exec(section)?.[1] ?? '';
}

test('its tables are current: `npm run task -- manual` would change nothing', () => {
  expect(currentManual()).toBe(MANUAL);
});

describe.each([...builtInProtocols.keys()])('the configuration shown for %s', (protocol) => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lingate-manual-'));
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await rm(folder, { recursive: true });
  });

  test('translates, in front of an engine that speaks it', async () => {
    const shown = shownFor(protocol);
    for (const [, name] of shown.matchAll(/\{ env: (\w+) \}/g)) vi.stubEnv(name!, `value-of-${name}`);
    const { engine, ...rest } = parse(shown) as { engine: { protocol: string; urls: string[] } };
    expect(engine.protocol).toBe(protocol);
    const scripted = await startScriptedEngine({ right: SUBJECTS[protocol]!.right });
    const urls = engine.urls.map((_, index) => `${scripted.url}${index === 0 ? '' : `/${index}`}`);
    const store = `sqlite:${folder}/lingate.db`;
    const gateway = await startGateway({ listener: 'uws', store, engineUrls: urls, config: { ...rest, engine: { ...engine, urls } } });
    const { key } = await gateway.team();
    const response = await fetch(`http://127.0.0.1:${gateway.port}/v1/translate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ text: ['Hello'], source_lang: 'EN', target_lang: 'DE' }),
    });
    const answered = [response.status, await response.json()];
    await gateway.stop();
    await scripted.close();
    expect(answered).toMatchObject([200, { translations: [{ text: '[DE] Hello' }], billed_characters: 5 }]);
  });
});
