// The manual's commands and configurations that no other test runs: a reader types them in order, beside one gateway. Each block of the
// manual and the READMEs is run here, or by the test that the last case names.
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { dateOf, dayOf } from '../../../src/index.ts';
import { startScriptedEngine } from '../../../src/testing.ts';
import type { ScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import { makeCertificate } from '../../support/certificate.ts';
import { bareEnvironment } from '../../support/compile-cache.ts';
import { freePort } from '../../support/free-port.ts';
import { CREDIT_PLAN, QUOTA_PLAN } from '../../support/gateway.ts';
import { startGatewayProcess } from '../../support/gateway-process.ts';
import type { GatewayProcess } from '../../support/gateway-process.ts';
import { inProcess, MAIN, temporaryFolder } from '../../support/lingate-command.ts';
import type { Folder } from '../../support/lingate-command.ts';
import { blocksIn, codeBlocks, MANUAL_PAGES, manualPage, manualSection } from '../../support/manual.ts';
import { outputOf } from '../../support/start-program.ts';
import { untilOneDay } from '../../support/one-day.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PAGES = MANUAL_PAGES.map((path) => path.replace(/^.*\/|\.md$/g, ''));
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** What runs the blocks of a page in a language, or a section of a page whose other blocks are run here. */
const ELSEWHERE: Readonly<Record<string, readonly (readonly [page: string, ...what: string[]])[]>> = {
  'evidence/journey/manual-clients': [
    ['azure-api', 'sh', 'js'],
    ['deepl-api', 'js', 'python', 'ruby'],
    ['google-api', 'sh', 'python', "Google's client for Node"],
    ['libretranslate-api', 'sh'],
  ],
  'unit/config/manual': [['engines', 'yaml']],
  'support/event-receiver': [['events', 'js']],
  'evidence/journey/first-invoice': [['first-invoice', 'sh', 'json', 'csv', 'text']],
  'evidence/kubernetes/manual': [['helm', 'sh', 'yaml']],
  'package/plugins': [
    ['plugins', 'js'],
    ['README', 'ts', 'yaml'],
  ],
  'evidence/journey/sign-in-manual': [['sign-in', 'sh']],
  'evidence/journey/tracing-manual': [['tracing', 'sh']],
  'evidence/releases/verifying': [['verifying', 'sh']],
  'evidence/journey/readme': [['README', 'sh', 'json']],
  'evidence/journey/keeping-manual': [
    ['keeping-data', 'Backup of a SQLite file', 'Restore of a SQLite file', 'Moving to another store', 'Upgrade'],
  ],
  'evidence/journey/leaked-key': [['teams-and-keys', 'A leaked key: found and revoked in one minute']],
};

/** Blocks that were run or judged here. */
const used = new Set<string>();

/** `section` is a heading; without one, what stands before the first. */
function blockOf(page: string, section: string, language: string, nth = 0): string {
  const text = section === '' ? manualPage(page).split('\n## ')[0]! : manualSection(page, section);
  const block = codeBlocks(text, language)[nth];
  if (block === undefined) throw new Error(`${page}.md has no such block in "${section}"`);
  used.add(block);
  return block;
}

let folder: Folder;
beforeAll(() => {
  folder = temporaryFolder();
});
afterAll(() => folder.remove());

describe('each configuration is valid', () => {
  const pages = PAGES.filter((page) => !['helm', 'running'].includes(page));
  const shown = pages.flatMap((page) => codeBlocks(manualPage(page), 'yaml').map((block, nth) => [page, nth + 1, block] as const));

  beforeAll(() => makeCertificate(folder.path, 'localhost'));

  test.each(shown)('%s, %i', async (page, _nth, block) => {
    used.add(block);
    const env: Record<string, string> = {};
    for (const [, name] of block.matchAll(/\{ env: (\w+) \}/g))
      env[name!] = name === 'EVENTS_SECRET' ? `whsec_${randomBytes(32).toString('base64')}` : `${name}-${'x'.repeat(32)}`;
    writeFileSync(join(folder.path, 'token'), 't'.repeat(40), { mode: 0o600 });
    const text = block
      .replaceAll(/\{ file: [^ }]+ \}/g, '{ file: token }')
      .replaceAll(/\.\/meter\.ts|node_modules\/lingate\/config\/examples\//g, (path) =>
        path === './meter.ts' ? `${ROOT}config/examples/meter.ts` : `${ROOT}config/examples/`,
      );
    // Limits are a member of a plan.
    const isPart = page === 'plans-and-metering' && block.startsWith('limits:');
    const file = join(folder.path, 'shown.yaml');
    writeFileSync(file, isPart ? JSON.stringify({ plans: { shown: { ...QUOTA_PLAN, ...(parse(text) as object) } } }) : text);
    expect(await inProcess(['config', 'check', '--offline', '--config', file], env)).toMatchObject({ status: 0, stderr: '' });
  });
});

describe('each command does what it says', () => {
  const TOKEN = randomBytes(24).toString('hex');
  const day = (before: number): string => dateOf(dayOf(Date.now()) - before);
  let store: string;
  let engine: ScriptedEngine;
  let gateway: GatewayProcess;
  /** What a reader fills in, by the word that stands for it. */
  const known = { TEAM: '', KEY_ID: '', KEY: '', ID: '' };

  beforeAll(async () => {
    await untilOneDay();
    engine = await startScriptedEngine();
    store = `sqlite:${join(folder.path, 'data/lingate.db')}`;
    const { plans } = parse(blockOf('plans-and-metering', '', 'yaml')) as { plans: object };
    const [listen, ops] = [await freePort(), await freePort()];
    const config = {
      listen: `127.0.0.1:${listen}`,
      ops: `127.0.0.1:${ops}`,
      store,
      engine: { urls: [engine.url] },
      limits: { shed_loop_delay_ms: 0 },
      store_options: { command_timeout_ms: 5000 },
      admin: { token: { env: 'LINGATE_ADMIN_TOKEN' } },
      documents: { secret: 'a secret of the tests that is long enough' },
      plugins: [{ module: 'lingate/plugins/memory' }, { module: 'lingate/plugins/google-v3' }],
      plans: { ...plans, free: QUOTA_PLAN, pro: QUOTA_PLAN, prepaid: CREDIT_PLAN },
    };
    mkdirSync(join(folder.path, 'data'));
    writeFileSync(join(folder.path, 'lingate.yaml'), JSON.stringify(config));
    gateway = await startGatewayProcess({ args: ['serve'], cwd: folder.path, env: variables() });
  });
  afterAll(async () => {
    await gateway?.end('SIGTERM');
    await engine?.close();
  });

  function variables(): Record<string, string> {
    const ours = { NODE: process.execPath, MAIN, LINGATE_CONFIG: join(folder.path, 'lingate.yaml'), LINGATE_ADMIN_TOKEN: TOKEN };
    return { ...bareEnvironment(), ...ours, KEY: known.KEY, LINGATE_KEY: known.KEY, ID: known.ID, URL: gateway?.url ?? '' };
  }

  /** The output of each command of a block, with ids, ports and days filled in; ids that it prints are filled into the next ones. */
  async function typed(block: string, filled: Readonly<Record<string, string>> = {}): Promise<string[]> {
    const outputs: string[] = [];
    for (const command of block.trimEnd().split(/(?<!\\)\n/)) {
      let text = command.replace(/^npm run -s lingate -- /, 'lingate ').replaceAll(/ +# .*$/gm, '');
      const fills = { ...filled, ':8080': `:${gateway.port}`, ':9090': new URL(gateway.opsUrl).host.replace(/.*:/, ':') };
      for (const [shown, own] of Object.entries(fills)) text = text.replaceAll(shown, own);
      text = text.replaceAll(/(?<!\$)\bTEAM(?:_ID)?\b/g, known.TEAM).replaceAll(/\bKEY_ID\b/g, known.KEY_ID);
      const output = await outputOfLine(text);
      outputs.push(output);
      if (text.includes(' team create ')) known.TEAM = /\b[0-9A-HJKMNP-TV-Z]{26}\b/.exec(output)![0];
      if (text.includes(' key create ')) known.KEY_ID = /^key id +(\w{26})/m.exec(output)![1]!;
      known.KEY ||= /\bla_live_\w{40}\b/.exec(output)?.[0] ?? '';
      known.ID = /"document_id":"(\w+)"/.exec(output)?.[1] ?? known.ID;
    }
    return outputs;
  }
  /** Commands that only print need no process of their own: a shell splits them into words. */
  async function outputOfLine(line: string): Promise<string> {
    const [, words] = /^lingate ([^<>|]*)$/.exec(line) ?? [];
    const shell = words === undefined ? line.replace(/^lingate /, '"$NODE" "$MAIN" ') : `printf '%s\\0' ${words}`;
    const env = { ...variables(), TEAM_ID: known.TEAM };
    const output = await outputOf('sh', ['-ec', shell], { cwd: folder.path, env, uses: ['curl'] });
    if (words === undefined) return output;
    const { status, stdout, stderr } = await inProcess(output.split('\0').slice(0, -1), env);
    expect([line, status, stderr]).toEqual([line, 0, expect.not.stringContaining('error')]);
    return stdout;
  }
  const yes = (block: string): string => block.replaceAll(/^lingate (?:team|glossary) delete .*|^lingate memory clear$/gm, '$& --yes');
  let acme = '';
  let payg = '';

  test('a team, a key, a reference, limits', async () => {
    const [team] = await typed(blockOf('teams-and-keys', 'Create a team and a key', 'sh'));
    acme = known.TEAM;
    expect(team).toContain(acme);
    const [key] = [known.KEY_ID];
    expect((await typed(blockOf('teams-and-keys', 'Your own reference', 'sh')))[2]).toContain('Acme');
    const listed = await typed(blockOf('teams-and-keys', 'Keys with limits', 'sh'));
    expect(listed.slice(1).map((text) => text.split('\n')[0])).toEqual([
      `Key ${known.KEY_ID} is changed.`,
      `Key ${known.KEY_ID} is changed.`,
      expect.stringContaining('It is disabled'),
      `Key ${known.KEY_ID} is changed.`,
    ]);
    known.KEY_ID = key!;
    const found = await typed(blockOf('teams-and-keys', 'Finding teams', 'sh'));
    expect(found.map((text) => text.includes('Acme'))).toEqual([true, true, false]);
  });

  test('plans: a quota, credit, a change now and when the period ends, tags', async () => {
    const made = await typed(blockOf('plans-and-metering', '', 'sh'));
    expect(made.at(-1)).toContain('The credit is now 75.00 EUR.');
    payg = known.TEAM;
    known.TEAM = acme;
    const [shown, applied] = await typed(blockOf('plans-and-metering', 'A change that makes the running period costlier', 'sh'));
    expect([shown, applied]).toEqual([expect.stringContaining('would change'), expect.stringContaining('changed')]);
    const waiting = await typed(blockOf('plans-and-metering', 'A change when the period ends', 'sh'));
    expect([waiting[0], waiting[2]]).toEqual([
      expect.stringContaining('The team gets plan starter when its period ends.'),
      expect.stringContaining('No change of plan is waiting'),
    ]);
    const [translated] = await typed(blockOf('plans-and-metering', 'Tags', 'sh'));
    expect(JSON.parse(translated!)).toMatchObject({ translations: [{ text: '[DE] Hello' }] });
    const tags = await typed(blockOf('plans-and-metering', 'Limits of a tag', 'sh'));
    expect(tags[2]).toMatch(/acme +disabled/);
  });

  test('the admin API creates a team; the audit and its filters; credit is deducted', async () => {
    const [created] = await typed(blockOf('teams-and-keys', 'The admin API', 'sh'));
    expect(JSON.parse(created!)).toMatchObject({ name: 'Acme', plan: 'pro' });
    known.TEAM = payg;
    expect((await typed(blockOf('operators-and-audit', 'Deducting credit', 'sh')))[0]).toContain('5.00 EUR has been deducted');
    const [since, json, filtered, api] = await typed(blockOf('operators-and-audit', 'The audit', 'sh'), { '2026-11-01': day(1) });
    expect(since).toMatch(/updateTeam[^]*createTeam/);
    expect(filtered).toContain('There are no such changes.');
    const { entries } = JSON.parse(json!) as { entries: Record<string, unknown>[] };
    const shown = JSON.parse(blockOf('operators-and-audit', 'The audit', 'json')) as { entries: [Record<string, unknown>]; next: null };
    const { after, action, key_id } = shown.entries[0];
    expect(entries[0]).toMatchObject({ action, key_id, after: { reason: (after as { reason: string }).reason } });
    const answer = JSON.parse(api!) as { entries: object[] };
    expect(Object.keys(answer)).toEqual(Object.keys(shown));
    for (const entry of answer.entries) expect(Object.keys(entry)).toEqual(Object.keys(shown.entries[0]));
    known.TEAM = acme;
  });

  test('usage and invoices, as tables, files and answers', async () => {
    const month = {
      '2026-11-01': day(20),
      '2026-11-30': day(0),
      'month 2026-11': `month ${day(0).slice(0, 7)}`,
      'month=2026-11': `month=${day(0).slice(0, 7)}`,
    };
    const file = (): string => readFileSync(join(folder.path, 'november.csv'), 'utf8').replaceAll('\r\n', '\n');
    for (const nth of [0, 1]) {
      expect(await typed(blockOf('usage', 'On the first: the invoices', 'sh', nth), month)).toEqual(['']);
      expect(file()).toMatch(/^team_id,reference,name,plan,billing,/);
    }
    const [head, row] = blockOf('usage', 'How do I bill by calendar month?', 'csv').split('\n') as [string, string];
    for (const nth of [0, 1]) {
      expect(await typed(blockOf('usage', 'How do I bill by calendar month?', 'sh', nth), month)).toEqual(['']);
      expect(file().split('\n')[0]).toBe(head);
      expect(file()).toContain(`${acme},Acme,pro,,`);
    }
    expect(row.split(',')).toHaveLength(head.split(',').length);
    const [table, answer] = await typed(blockOf('usage', 'How do I bill by calendar month?', 'sh', 2));
    expect(table).toMatch(/^FROM +TO +STATE/);
    type Periods = { readonly periods: readonly { readonly overage: object }[] };
    const shown = (JSON.parse(blockOf('usage', 'How do I bill by calendar month?', 'json')) as Periods).periods[0]!;
    const [period] = (JSON.parse(answer!) as Periods).periods;
    expect([Object.keys(period!), Object.keys(period!.overage)]).toEqual([Object.keys(shown), Object.keys(shown.overage)]);
  });

  test('a document is translated', async () => {
    writeFileSync(join(folder.path, 'letter.txt'), 'Hello\n');
    const [upload, state, result, remove] = blockOf('documents', '', 'sh').trimEnd().split('\n') as [string, string, string, string];
    await typed(upload);
    await expect.poll(() => typed(state), { timeout: 30_000 }).toEqual([expect.stringContaining('"status":"done"')]);
    await typed(result);
    expect(readFileSync(join(folder.path, 'letter-de.txt'), 'utf8')).toBe('[DE] Hello\n');
    expect(await typed(remove)).toEqual(['']);
  });

  test('why a request was refused', async () => {
    await typed(`curl -sS http://127.0.0.1:8080/v1/translate -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '{}'`);
    const now = new Date(Date.now() - 120_000).toISOString();
    const block = blockOf('watching', 'Why did this customer get a 503 at 14:03?', 'sh');
    const fills = {
      'status 503': 'status 400',
      'status=503': 'status=400',
      Example: acme,
      ' 14:00': ` ${now.slice(11, 16)}`,
      '2026-11-22T14:00Z': now,
    };
    const [command, api] = await typed(block, fills);
    expect(command).toContain('validation_error');
    type Listed = { readonly requests: readonly object[]; readonly next: null };
    const shown = JSON.parse(blockOf('watching', 'Why did this customer get a 503 at 14:03?', 'json')) as Listed;
    const { requests } = JSON.parse(api!) as Listed;
    expect(requests.map((request) => Object.keys(request))).toEqual([Object.keys(shown.requests[0]!)]);
  });

  test('the engine: the check, the route, what its protocol sends', async () => {
    const check = blockOf('engine-failures', 'The check', 'sh');
    expect((await typed(check))[0]).toContain('translates in');
    const two = ['engine', 'check', '--json', '--engine-url', engine.url, '--engine-url', 'http://127.0.0.1:9'];
    const { stdout } = await inProcess(two);
    type Checked = { readonly replicas: readonly [object, object] };
    const shown = JSON.parse(blockOf('engine-failures', 'The check', 'json')) as Checked;
    const named = ({ replicas }: Checked): unknown => Object.keys(replicas[0]).toSorted();
    expect(named(JSON.parse(stdout) as Checked)).toEqual(named(shown));
    expect((await typed(blockOf('several-engines', 'Which engine, and why', 'sh')))[0]).toContain('default');
    const headers = `-H "Authorization: Bearer $KEY" -H 'Content-Type: application/json'`;
    const entries = { name: 'Terms', source_lang: 'EN', target_lang: 'DE', entries: { term: 'translation' } };
    const [made] = await typed(`curl -sS http://127.0.0.1:8080/v1/glossaries ${headers} -d '${JSON.stringify(entries)}'`);
    const { glossary_id } = JSON.parse(made!) as { glossary_id: string };
    const asked = { text: ['A term'], source_lang: 'EN', target_lang: 'DE', formality: 'more', context: 'About terms', glossary_id };
    await typed(`curl -sS http://127.0.0.1:8080/v1/translate ${headers} -d '${JSON.stringify(asked)}'`);
    const sent = engine.requests.map(({ body }) => body).findLast((body) => body.includes('A term'))!;
    const request = JSON.parse(blockOf('engines', 'native', 'json')) as { glossary: object };
    expect(Object.keys(JSON.parse(sent) as object)).toEqual(Object.keys(request));
    expect(Object.keys((JSON.parse(sent) as typeof request).glossary)).toEqual(Object.keys(request.glossary));
  });

  test("Google's client of version 3", async () => {
    symlinkSync(join(ROOT, 'node_modules'), join(folder.path, 'node_modules'));
    const program = blockOf('google-api', 'Version 3', 'js').replace('8080', String(gateway.port));
    writeFileSync(join(folder.path, 'google.mjs'), program);
    expect((await outputOf('node', ['google.mjs'], { cwd: folder.path, env: variables() })).trimEnd()).toBe('[DE] Hello');
  });

  test('the store is checked and shown, its clock accepted; the cache cleared; the configuration checked', async () => {
    const id = { '01JD8ZQ4T7X3V9K2M5N6P8R0SA': acme, '01JD3Q7V6Y8Z0XKQ4T5N2M9HRC': acme, 'sqlite:data/lingate.db': store };
    expect((await typed(blockOf('keeping-data', 'Checking a store', 'sh'), id))[0]).toContain('nothing is wrong');
    expect((await typed(blockOf('keeping-data', 'Checking a store', 'sh', 1), id))[0]).toMatch(/^team \{.*"Acme"/);
    expect((await typed(blockOf('stores', 'A clock that steps', 'sh')))[0]).toContain('The clock is accepted');
    expect(await typed(yes(blockOf('memory', 'When a text is the same', 'sh')), id)).toHaveLength(2);
    expect((await typed(blockOf('first-hour', 'Where the configuration comes from', 'sh')))[0]).toContain('The configuration is valid.');
  });

  test('a glossary, a team and its usage are deleted', async () => {
    const deleted = { '01JD3Q7V6Y8Z0XKQ4T5N2M9HRC': acme };
    const block = yes(blockOf('erasure', 'Delete a glossary', 'sh'));
    const [list] = await typed(block.split('\n')[0]!, deleted);
    const glossary = /\b[0-9A-HJKMNP-TV-Z]{26}\b/.exec(list!)![0];
    expect(await typed(block.split('\n')[1]!, { '01JD3QB5W1T9C4E8S7X2G6V0PA': glossary })).toEqual([expect.stringContaining('is deleted')]);
    for (const nth of [0, 1])
      expect((await typed(yes(blockOf('erasure', 'Delete a team', 'sh', nth)), deleted))[0]).toContain(`Team ${acme} is deleted`);
  });
});

describe('what needs a container or a cluster fits its files', () => {
  test('the image: its user, its folder, its ports', () => {
    const dockerfile = read('Dockerfile');
    const block = blockOf('running', 'Image', 'console');
    for (const word of ['65532:65532', '/var/lib/lingate', '8080', '9090']) {
      expect(block).toContain(word);
      expect(dockerfile).toContain(word);
    }
    expect(block).toContain('-e LINGATE_CONFIG=/etc/lingate/lingate.yaml');
  });

  test('Compose: the second file changes the service of the first; Kubernetes: the deployment', () => {
    const second = parse(blockOf('running', 'Compose', 'yaml')) as { services: Record<string, { environment: object }> };
    const first = parse(read('config/compose.yaml'), { merge: true }) as typeof second;
    expect(Object.keys(first.services)).toContain(Object.keys(second.services)[0]);
    const emptied = Object.entries(second.services['lingate']!.environment).flatMap(([name, value]) => (value === '' ? [name] : []));
    expect(emptied).toEqual(['LINGATE_ENGINE_URL', 'LINGATE_ENGINE_PROTOCOL']);
    expect(Object.keys(first.services['lingate']!.environment)).toEqual(expect.arrayContaining(emptied));
    expect(blockOf('running', 'Kubernetes', 'sh')).toBe('kubectl port-forward deployment/lingate 9090\n');
    expect(read('config/kubernetes.yaml')).toMatch(/kind: Deployment\nmetadata:\n {2}name: lingate\n[^]*containerPort: 9090/);
  });

  test("HAProxy's file of certificate and key is readable for its owner alone; the collector's port is the one configured", async () => {
    const files = { 'fullchain.pem': 'cert.pem', 'privkey.pem': 'key.pem', '/etc/haproxy/': `${folder.path}/` };
    let command = blockOf('listeners-and-proxies', 'nginx and HAProxy', 'console');
    for (const [shown, own] of Object.entries(files)) command = command.replace(shown, own);
    await outputOf('sh', ['-ec', command], { cwd: folder.path, uses: ['cat'] });
    expect(statSync(join(folder.path, 'lingate.pem')).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder.path, 'lingate.pem'), 'utf8')).toMatch(/END CERTIFICATE-----\n-----BEGIN PRIVATE KEY/);
    const [, port] = /-p (\d+):/.exec(blockOf('tracing', 'From nothing to a trace', 'console'))!;
    expect(codeBlocks(manualPage('tracing'), 'yaml')[0]).toContain(`:${port}"`);
  });
});

test('every block is run or judged, here or by the named test', () => {
  const elsewhere = new Set<string>();
  for (const [page, ...all] of Object.values(ELSEWHERE).flat()) {
    for (const what of all) {
      if (/^[a-z]+$/.test(what)) elsewhere.add(`${page} ${what}`);
      else for (const block of blocksIn(manualSection(page, what))) used.add(block.text);
    }
  }
  const all = [...PAGES.map((page) => [page, manualPage(page)] as const), ['README', read('README.md')] as const];
  const left = all.flatMap(([page, text]) =>
    blocksIn(text)
      .filter((block) => !used.has(block.text) && !elsewhere.has(`${page} ${block.language}`) && block.language !== 'mermaid')
      .map((block) => `${page} ${block.language}: ${block.text.split('\n')[0]}`),
  );
  expect(left).toEqual([]);
  for (const [name, pages] of Object.entries(ELSEWHERE)) {
    const file = read(`test/${name}.${name.startsWith('support/') ? 'ts' : 'test.ts'}`);
    const unnamed = pages.filter(([page]) => !file.includes(page) && !file.includes('builtInProtocols'));
    expect([name, unnamed]).toEqual([name, []]);
  }
});
