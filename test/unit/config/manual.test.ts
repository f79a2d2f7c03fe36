// The operator's manual agrees with the code about settings and engine protocols, and each configuration in it works.
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { ConfigFile } from '../../../src/config/schema.ts';
import { CreditPlanSchema, QuotaPlanSchema } from '../../../src/domain/plan.ts';
import type { SchemaNode } from '../../../src/domain/option-schema.ts';
import { builtInProtocols } from '../../../src/engines/protocols/built-in.ts';
import { currentPages } from '../../../src/manual.ts';
import { LAYOUT as LAYOUT_VERSION } from '../../../src/stores/redis/server-health.ts';
import { LAYOUT_KEY } from '../../../src/stores/redis/redis-keys.ts';
import { SCHEMA } from '../../../src/stores/sqlite/schema.ts';
import { startScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import { startGateway } from '../../support/gateway.ts';
import { codeBlocks, manualPage, manualSection } from '../../support/manual.ts';
import { SUBJECTS } from '../engines/protocols/subjects.ts';

test('its tables are current: `npm run task -- manual` would change nothing', () => {
  const pages = currentPages();
  expect(Object.keys(pages)).toEqual([
    'engines.md',
    'engine-failures.md',
    'plans-and-metering.md',
    'teams-and-keys.md',
    'watching.md',
    'api-parameters.md',
  ]);
  for (const [name, text] of Object.entries(pages)) expect(text).toBe(manualPage(name.slice(0, -'.md'.length)));
});

test('it names the data formats that this version reads and writes', () => {
  const text = manualSection('keeping-data', 'Upgrade');
  expect(text).toContain(`schema ${SCHEMA} in SQLite`);
  expect(text).toContain(`layout ${LAYOUT_VERSION} in Redis (the key \`${LAYOUT_KEY}\`)`);
});

test('lingate.yaml names every protocol', () => {
  const file = readFileSync(new URL('../../../config/lingate.yaml', import.meta.url), 'utf8');
  expect(file).toContain(`# The engine's protocol: ${[...builtInProtocols.keys()].join(', ')}, or a plugin's.`);
});

test('every setting has a row, and every row has a setting', () => {
  const rows = [...manualPage('settings').matchAll(/^\| (`.+?) \|/gm)].flatMap(([, cell]) => {
    const names = [...cell!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);
    const section = /^\w+\./.exec(names[0]!)?.[0] ?? '';
    return names.map((name, index) => (index === 0 || name.includes('.') ? name : `${section}${name}`));
  });
  const members = Object.entries((ConfigFile as SchemaNode).properties!).flatMap(([name, { properties = {} }]) => {
    const below = Object.keys(properties).map((member) => `${name}.${member}`);
    // A section has a row for each member, or one row as a whole.
    return below.length === 0 || rows.includes(name) ? [name] : below;
  });
  expect(rows.toSorted()).toEqual(members.toSorted());
});

test('every member of a plan has a row, and every row is a member', () => {
  const [first] = manualPage('plans-and-metering').split('\n## ');
  const rows = [...first!.matchAll(/^\| (`.+?) \|/gm)];
  const names = rows.flatMap(([, cell]) => [...cell!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!));
  const members = [QuotaPlanSchema, CreditPlanSchema].flatMap((schema) => Object.keys(schema.properties));
  expect(names.toSorted()).toEqual([...new Set(members)].toSorted());
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

  test('translates with an engine that speaks it', async () => {
    const [shown] = codeBlocks(manualSection('engines', protocol), 'yaml') as [string];
    for (const [, name] of shown.matchAll(/\{ env: (\w+) \}/g)) vi.stubEnv(name!, `value-of-${name}`);
    const { engine, ...rest } = parse(shown) as { engine: { protocol: string; urls: string[] } };
    expect(engine.protocol).toBe(protocol);
    const scripted = await startScriptedEngine({ right: SUBJECTS[protocol]!.right });
    const urls = engine.urls.map((_, index) => `${scripted.url}${index === 0 ? '' : `/${index}`}`);
    const store = `sqlite:${folder}/lingate.db`;
    const gateway = await startGateway({ store, engineUrls: urls, config: { ...rest, engine: { ...engine, urls } } });
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
