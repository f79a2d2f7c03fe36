// What operators and their programs rely on, by name: paths, parameters, members and statuses of the admin API, commands with their flags and
// exit statuses, members of --json, pages and forms of the console. Compared with the lists in the text file beside this one.
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { answered as stored } from '../../src/index.ts';
import { commandsOf, CONSOLE_ROUTES } from '../support/door/tables.ts';
import { ConsoleVisitor } from '../support/console-visitor.ts';
import { DocumentCaller } from '../support/document-caller.ts';
import { ask, translateText } from '../support/every-gateway.ts';
import { CREDIT_PLAN, QUOTA_PLAN } from '../support/gateway.ts';
import type { TestGateway, TestTeam } from '../support/gateway.ts';
import { inProcess } from '../support/lingate-command.ts';
import { request } from '../support/raw-http.ts';
import { startedUntil } from '../support/started.ts';

const TOKEN = randomBytes(24).toString('hex');
const NOBODY = '01JD3Q7V6Y8Z0XKQ4T5N2M9HRC';
const started = startedUntil(afterAll);
const store = `sqlite:${started.folder}/lingate.db`;
let gateway: TestGateway;
let team: TestTeam;
let prepaid: TestTeam;
let glossaryId = '';
let file = '';

beforeAll(async () => {
  const engine = await started.engine();
  const config = {
    admin: { token: TOKEN },
    documents: { secret: 'a secret of the tests that is long enough' },
    plans: { test: { ...QUOTA_PLAN, limits: [{ per: 'month', requests: 600, characters: 9000 }] }, prepaid: CREDIT_PLAN },
  };
  gateway = await started.gateway({ listener: 'node', store, engineUrls: [engine.url], config });
  file = `${started.folder}/lingate.json`;
  writeFileSync(file, JSON.stringify({ ...config, store, ops: `127.0.0.1:${gateway.opsPort}` }));
  [team, prepaid] = [await gateway.team(), await gateway.team(CREDIT_PLAN, 5000)];
  const scopes = ['translate:text', 'translate:document', 'glossaries:write'];
  const limits = {
    windows: 'requests=500/month',
    scopes,
    requestsPerSecond: 90,
    characters: 500_000,
    expiresAtMs: Date.parse('2099-01-01'),
  };
  stored(await gateway.store.teams.updateKey(team.keyId, { limits: { ...limits, allowedAddresses: ['127.0.0.0/8'] } }));
  await translateText({ gateway }, team.key, 'Hello', { 'lingate-tag': 'acme' });
  await translateText({ gateway }, team.key, '');
  glossaryId = await makeGlossary(team);
  const documents = new DocumentCaller(gateway.port, team.key);
  await documents.reached(await documents.uploaded({ file: 'Dear all' }), 'done');
  const reference = ['--reference', 'K-1', '--plan', 'prepaid', '--when', 'next-period'];
  for (const words of [
    ['tag', 'set', team.teamId, 'acme', '--characters', '900', '--limit', 'requests=60/month', '--requests-per-second', '5'],
    ['tag', 'set', team.teamId, 'closed', '--disable'],
    ['team', 'update', team.teamId, ...reference],
  ]) {
    expect((await command(words)).stderr).toBe('');
  }
});

const command = (words: readonly string[]) => inProcess([...words, '--config', file]);

interface Schema {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
  readonly items?: unknown;
  readonly anyOf?: readonly unknown[];
  readonly additionalProperties?: unknown;
  readonly enum?: readonly unknown[];
  readonly type?: string;
}

async function makeGlossary({ key }: TestTeam): Promise<string> {
  const body = { name: 'Terms', source_lang: 'EN', target_lang: 'DE', entries: { cat: 'Katze' } };
  const made = await ask({ gateway }, { method: 'POST', path: '/v1/glossaries', key, body });
  return (made.json() as { glossary_id: string }).glossary_id;
}

/** The names of all members, those of lists and of optional members included. */
function membersOf(schema: unknown, at = ''): string[] {
  const { properties, required = [], items, anyOf, additionalProperties, enum: values, type = 'any' } = (schema ?? {}) as Schema;
  if (properties !== undefined) {
    const open = typeof additionalProperties === 'object' ? [`${at}.*`] : [];
    return [
      ...Object.entries(properties).flatMap(([name, member]) => membersOf(member, `${at}.${name}${required.includes(name) ? '' : '?'}`)),
      ...open,
    ];
  }
  if (items !== undefined) return membersOf(items, `${at}[]`);
  if (anyOf !== undefined) {
    const all = anyOf.flatMap((one) => membersOf(one, at));
    return [...new Set(all.length > 1 ? all.map((one) => (one.endsWith(':null') ? `${at}:null` : one)) : all)];
  }
  return [`${at}:${values === undefined ? type : values.join('|')}`];
}

interface Described {
  readonly parameters?: readonly { readonly in: string; readonly name: string }[];
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, { readonly schema: unknown }>> };
  readonly responses: Readonly<
    Record<string, { readonly headers?: object; readonly content?: Readonly<Record<string, { readonly schema: unknown }>> }>
  >;
  readonly operationId: string;
}

/** The admin API, as its document describes it. */
async function ofAdminApi(): Promise<string[]> {
  const { body } = await request({
    port: gateway.opsPort,
    path: '/admin/openapi.json',
    headers: { host: `127.0.0.1:${gateway.opsPort}` },
  });
  const { paths } = JSON.parse(body) as { readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>> };
  const lines: string[] = [];
  for (const [path, methods] of Object.entries(paths).toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    for (const [method, { operationId, parameters = [], requestBody, responses }] of Object.entries(methods)) {
      lines.push(`${method.toUpperCase()} ${path} ${operationId}`);
      for (const place of ['path', 'query', 'header']) {
        const names = parameters.filter((one) => one.in === place).map(({ name }) => name);
        if (names.length > 0) lines.push(`  ${place}: ${names.toSorted().join(' ')}`);
      }
      for (const [type, { schema }] of Object.entries(requestBody?.content ?? {})) {
        lines.push(`  body${requestBody!.required ? '' : '?'} ${type}`, ...wrapped(membersOf(schema).toSorted()));
      }
      for (const [status, { headers = {}, content = {} }] of Object.entries(responses)) {
        const types = Object.keys(content);
        const own = status === 'default' ? [] : Object.keys(headers).toSorted();
        lines.push(`  ${status} ${types.join(', ')}${own.length === 0 ? '' : `, headers ${own.join(' ')}`}`);
        if (status !== 'default') lines.push(...wrapped(membersOf(content['application/json']?.schema).toSorted()));
      }
    }
  }
  return ['# The admin API', ...lines, ''];
}

function wrapped(words: readonly string[]): string[] {
  const lines = [''];
  for (const word of words) {
    if (word === ':any') continue;
    if (lines.at(-1)!.length + word.length > 100) lines.push('');
    lines.push(`${lines.pop()!} ${word}`);
  }
  return lines.filter((line) => line !== '').map((line) => `     ${line}`);
}

/** These go on until they are stopped. */
const ENDLESS = ['serve', 'demo'];

/** The commands: operands, flags, exit statuses. */
async function ofCommands(): Promise<string[]> {
  const lines: string[] = [];
  for (const { name, operands = [], flags = {} } of await commandsOf()) {
    lines.push([name, ...operands].join(' '));
    const shown = Object.entries(flags).map(([flag, { value, many = false, required = false }]) => {
      const taken = value === undefined ? '' : many ? ' …' : ' .';
      return `${required ? '!' : ''}--${flag}${taken}`;
    });
    lines.push(...wrapped(shown.toSorted()));
    const help = (await command([...name.split(' '), '--help'])).stdout.split('\n');
    const sections = help.filter((line) => /^(?:Usage|Flags|Example|See also).*:/.test(line)).map((line) => line.split(':', 1)[0]);
    lines.push(`  help: ${sections.join(', ')}`);
    if (ENDLESS.includes(name)) continue;
    const required = Object.entries(flags).flatMap(([flag, one]) => (one.required === true ? [`--${flag}`, valueFor(flag)] : []));
    const statuses: [string, number | null][] = [];
    for (const [what, words] of [
      ['unknown flag', ['--bogus']],
      ['one operand too many', [...operands.map(valueFor), 'x', ...required]],
      ['unknown ids', [...operands.map(valueFor), ...required, ...(Object.hasOwn(flags, 'yes') ? ['--yes'] : [])]],
      ...(operands.length > 0 ? [['no operand', required] as const] : []),
      ...(operands.length > 0 ? [['no id', [...operands.map(() => 'no id'), ...required]] as const] : []),
    ] as const) {
      // Without an engine or a store to look at, this would wait for them; and no gateway of this machine is to reload.
      if (what === 'unknown ids' && /^(?:engine|store|config|routes|openapi|memory|reload)/.test(name)) continue;
      statuses.push([what, (await inProcess([...name.split(' '), ...words, '--store', `${store}-none`])).status]);
    }
    lines.push(`  exit: ${statuses.map(([what, status]) => `${what} ${status}`).join(', ')}`);
  }
  return ['# The commands', ...lines, ''];
}

function valueFor(name: string): string {
  const values: Readonly<Record<string, string>> = {
    TAG: 'acme',
    name: 'A',
    plan: 'gone',
    mode: 'live',
    from: '2026-11-01',
    to: '2026-11-02',
  };
  return values[name] ?? NOBODY;
}

/** The members of --json. */
async function ofJson(): Promise<string[]> {
  const lines: string[] = [];
  const { teamId, keyId } = team;
  const running = ['--ops', `127.0.0.1:${gateway.opsPort}`];
  const year = new Date().getUTCFullYear();
  const span = ['--from', `${year}-01-01`, '--to', `${year}-12-31`];
  for (const words of [
    ['team', 'create', '--name', 'New', '--plan', 'prepaid'],
    ['team', 'list'],
    ['team', 'show', teamId],
    ['team', 'update', teamId, '--name', 'Named'],
    ['key', 'create', '--team', teamId, '--mode', 'live'],
    ['key', 'list', '--team', teamId],
    ['key', 'find', '--display', team.key.slice(0, 12)],
    ['key', 'update', keyId, '--label', 'site'],
    ['key', 'revoke', keyId],
    ['key', 'revoke', '--all', '--team', prepaid.teamId, '--yes'],
    ['tag', 'list', teamId],
    ['tag', 'set', teamId, 'acme', '--limit', 'characters=5000/day'],
    ['tag', 'delete', teamId, 'acme'],
    ['glossary', 'list', '--team', teamId],
    ['glossary', 'delete', glossaryId, '--yes'],
    ['usage', teamId],
    ['usage', 'export', ...span, '--keys'],
    ['usage', 'export', ...span, '--tags'],
    ['usage', 'periods', teamId],
    ['invoices', '--month', new Date().toISOString().slice(0, 7), '--open'],
    ['plan', 'apply', 'prepaid', '--yes'],
    ['plan', 'apply', 'prepaid', '--dry-run'],
    ['requests', ...running],
    ['documents', 'list'],
    ['audit', 'list', '--team', teamId],
    ['team', 'delete', prepaid.teamId, '--yes'],
  ]) {
    const { status, stdout, stderr } = await command([...words, '--json']);
    const shown = words.filter((word) => !/^[0-9A-Z]{26}$|^la_|^\d{4}-|^127/.test(word));
    if (status !== 0) lines.push(`${shown.join(' ')}: ${status} ${stderr}`);
    else lines.push(shown.join(' '), ...wrapped([...namesIn(JSON.parse(stdout) as unknown)].toSorted()));
  }
  return ['# Members of --json', ...lines, ''];
}

function namesIn(value: unknown, at = ''): Set<string> {
  if (typeof value !== 'object' || value === null) return new Set([at]);
  if (Array.isArray(value))
    return new Set([...(value.length === 0 ? [`${at}[]`] : []), ...value.flatMap((one) => [...namesIn(one, `${at}[]`)])]);
  return new Set(Object.entries(value).flatMap(([name, member]) => [...namesIn(member, `${at}.${name}`)]));
}

/** The pages and forms of the console. */
async function ofConsole(): Promise<string[]> {
  const visitor = await ConsoleVisitor.signedIn(gateway.opsPort, TOKEN);
  const one = await gateway.team(CREDIT_PLAN, 5000);
  const glossary = await makeGlossary(one);
  for (const tag of ['acme', 'closed']) {
    const more = tag === 'acme' ? ['--characters', '900'] : ['--disable'];
    expect((await command(['tag', 'set', one.teamId, tag, ...more])).status).toBe(0);
  }
  const ids: Readonly<Record<string, string>> = { id: one.teamId, key: one.keyId, glossary, name: 'prepaid' };
  const named = (text: string): string =>
    Object.entries(ids)
      .filter(([name]) => name !== 'name')
      .reduce((shown, [name, id]) => shown.replaceAll(id, `{${name}}`), text)
      .replaceAll('/plans/prepaid', '/plans/{name}')
      .replaceAll('/plans/test', '/plans/{name}')
      .replaceAll(/[0-9A-HJKMNP-TV-Z]{26}/g, 'ID')
      .replaceAll(/-[\w-]+(?=\.(?:css|js))/g, '');
  const lines: string[] = [];
  const pages = CONSOLE_ROUTES.filter(({ method }) => method === 'GET').map(({ path }) => path);
  for (const path of [...pages, '/teams/{id}/tag?tag=acme', '/teams/{id}/tag?tag=closed', '/teams/{id}/tag?tag=none'].toSorted()) {
    if (path.startsWith('/oidc') || path.startsWith('/assets')) continue;
    const at = `/console${path.replaceAll(/\{(\w+)\}/g, (_braces, name: string) => ids[name]!)}`;
    const answer = await visitor.get(at);
    const { status, body } = answer;
    const type = answer.header('content-type') ?? answer.header('location') ?? '';
    lines.push(`${path} ${status} ${named(type.split(';', 1)[0]!)}`);
    if (!type.startsWith('text/html')) continue;
    for (const [, attributes, inner] of body.matchAll(/<form([^>]*)>([\s\S]*?)<\/form>/g)) {
      const action = /action="([^"]*)"/.exec(attributes!)?.[1] ?? '';
      const fields = [...inner!.matchAll(/<(input|select|textarea)\b[^>]*?\bname="([^"]*)"/g)].map(([, kind, name]) => `${name}:${kind}`);
      if (action === '/console/sign-out') continue;
      const method = attributes!.includes('method="post"') ? 'POST' : 'GET';
      lines.push(`  ${method} ${named(action)} ${[...new Set(fields)].toSorted().join(' ')}`);
    }
  }
  lines.push('', 'Forms that are sent:');
  for (const { method, path, ...route } of CONSOLE_ROUTES) {
    if (method !== 'POST') continue;
    lines.push(`${path} ${route.access}${route.access === 'signed-in' && route.changes ? ', changes' : ''}`);
  }
  return ['# The console', ...lines, ''];
}

test('all of it is as listed', async () => {
  const lines = [await ofAdminApi(), await ofCommands(), await ofJson(), await ofConsole()].flat();
  await expect(lines.join('\n')).toMatchFileSnapshot('./operator-surface.txt');
});
