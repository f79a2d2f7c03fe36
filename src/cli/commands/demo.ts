// lingate demo: the whole gateway with a built-in engine, a team, a key, a command to paste into
// another shell, and the console.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { App } from '../../app/app.ts';
import type { Config } from '../../config/config.ts';
import type { NetworkAddress } from '../../config/network-address.ts';
import type { NewKeyRow } from '../../admin/operations/key-rows.ts';
import { createKey } from '../../admin/operations/keys.ts';
import type { ChangedTeamRow } from '../../admin/operations/teams.ts';
import { createTeam } from '../../admin/operations/teams.ts';
import { matchesKeyPattern } from '../../domain/api-key.ts';
import { ONLY_ENGINE } from '../../domain/engine-routing.ts';
import { answered } from '../../domain/store-unavailable.ts';
import type { Command, CommandContext } from '../command.ts';
import { LISTEN_FLAGS } from '../command.ts';
import { commandOn, withStore } from '../with-store.ts';

const FOLDER = 'data';
const KEY_FILE = join(FOLDER, 'demo.json');

/** Its team and the console's token, stored between runs in a file only its owner can read. */
interface DemoTeam {
  readonly team_id: string;
  readonly key_id: string;
  readonly key: string;
  readonly console_token: string;
}

/** As long as a key is random. */
const TOKEN_BYTES = 32;

const demo: Command = {
  name: 'demo',
  summary: 'Runs the gateway with a built-in engine, a team and a key, to try it.',
  makesStore: true,
  about: `The built-in engine is a small phrasebook. Team, key and usage are stored in ${FOLDER}/; delete it to start over.`,
  flags: LISTEN_FLAGS,
  examples: ['lingate demo', 'lingate demo --listen 127.0.0.1:0'],
  async run(context) {
    // Loaded on demand, because these load the whole gateway.
    const { startApp, startDemoEngine } = await import('../../app/app.ts');
    const { runUntilStopped } = await import('../../app/until-stopped.ts');
    const config = await context.config();
    const team = await demoTeam(context, config);
    const engine = await startDemoEngine();
    const start = async (): Promise<App> => {
      const app = await startApp(await demoConfig(context, config, engine.url, team), { docsOnOps: true });
      const token = config.admin === undefined ? team.console_token : undefined;
      context.print(descriptionOf(app, team, token), () => textOf(app, team, token));
      return app;
    };
    // Also if the gateway cannot start: the engine would keep the process running.
    try {
      await runUntilStopped(start);
    } finally {
      await engine.close();
    }
  },
};

/** The team of an earlier run if the store still has it, otherwise a new one. */
async function demoTeam(context: CommandContext, config: Config): Promise<DemoTeam> {
  const team = await withStore(context, async (store, { plans }, nowMs) => {
    const earlier = await readStored();
    const keys = earlier === undefined ? [] : answered(await store.teams.listKeys(earlier.team_id));
    if (keys?.some(({ keyId, status }) => keyId === earlier?.key_id && status === 'active') === true) return earlier!;
    const on = commandOn(store, config, nowMs);
    const plan = plans.has('free') ? 'free' : [...plans.keys()][0]!;
    const { team_id: id } = (await createTeam.run!(on, { name: 'demo', plan })).value as ChangedTeamRow;
    const made = (await createKey.run!(on, { id, mode: 'test', label: 'demo' })).value as NewKeyRow;
    return { team_id: id, key_id: made.key_id, key: made.key!, console_token: newToken() };
  });
  await keep(team);
  return team;
}

async function readStored(): Promise<DemoTeam | undefined> {
  try {
    const stored = JSON.parse(await readFile(KEY_FILE, 'utf8')) as Partial<DemoTeam>;
    const { team_id, key_id, key, console_token } = stored;
    if (typeof team_id !== 'string' || typeof key_id !== 'string' || typeof key !== 'string' || !matchesKeyPattern(key)) return undefined;
    // The file may be of a version whose demo had no console.
    const isToken = typeof console_token === 'string' && TOKEN.test(console_token);
    return { team_id, key_id, key, console_token: isToken ? console_token : newToken() };
  } catch {
    // The file does not exist yet, or is not valid JSON: a new team is created.
    return undefined;
  }
}

const TOKEN = /^[A-Za-z0-9_-]{43}$/;

function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

async function keep(team: DemoTeam): Promise<void> {
  await mkdir(FOLDER, { recursive: true, mode: 0o700 });
  const draft = `${KEY_FILE}.new`;
  await writeFile(draft, `${JSON.stringify(team, null, 2)}\n`, { mode: 0o600 });
  await chmod(draft, 0o600);
  await rename(draft, KEY_FILE);
}

async function demoConfig(context: CommandContext, config: Config, engineUrl: string, team: DemoTeam): Promise<Config> {
  const listen = await freeUnlessAsked(config.listen, context.text('listen') ?? context.io.env['LINGATE_LISTEN']);
  const ops = await freeUnlessAsked(config.ops, context.text('ops') ?? context.io.env['LINGATE_OPS']);
  const sources = { ...config.sources, engineUrls: 'the built-in engine' };
  const [engine] = config.engines;
  const builtIn = { ...engine!, name: ONLY_ENGINE, place: 'engine', protocol: 'native', options: {}, urls: [engineUrl] };
  const admin = config.admin ?? { token: team.console_token, tokens: [] };
  return { ...config, sources, listen, ops, engines: [builtIn], routing: undefined, admin };
}

/** Any free port if the default is busy. A chosen address is used, or fails clearly. */
async function freeUnlessAsked(address: NetworkAddress, asked: string | undefined): Promise<NetworkAddress> {
  if (asked !== undefined && asked !== '') return address;
  const probe = createServer();
  try {
    probe.listen({ host: address.host, port: address.port, exclusive: true });
    await once(probe, 'listening');
    probe.close();
    await once(probe, 'close');
    return address;
  } catch {
    return { host: address.host, port: 0 };
  }
}

/** `token` is the console's; `undefined` if the configuration has tokens of its own. */
function descriptionOf(app: App, { team_id, key }: DemoTeam, token: string | undefined): Record<string, string> {
  const of = { listen: app.listenUrl, ops: app.opsUrl, team_id, key, curl: curlLine(app, key), console: `${app.opsUrl}/console` };
  return token === undefined ? of : { ...of, console_token: token };
}

function textOf(app: App, team: DemoTeam, token: string | undefined): string {
  return [
    '',
    `  API      ${app.listenUrl}`,
    `  console  ${app.opsUrl}/console`,
    `  token    ${token ?? 'one of your configuration'}`,
    `  ops      ${app.opsUrl}`,
    `  team     ${team.team_id}; its key and the token are stored in ${KEY_FILE}`,
    '',
    '  Paste this into another shell:',
    '',
    curlLine(app, team.key),
    '',
    '  Ctrl-C stops it. One line per request follows here.',
    '',
  ].join('\n');
}

function curlLine(app: App, key: string): string {
  const body = JSON.stringify({ text: ['Hello, world!'], target_lang: 'DE' });
  return `curl -sS ${app.listenUrl}/v1/translate -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '${body}'`;
}

export const commands = [demo];
