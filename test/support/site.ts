// What a gateway process needs: a folder with a configuration, a store with a team, and an engine.
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store } from '../../src/ports/store.ts';
import { makeTeam } from './gateway.ts';
import type { TestTeam } from './gateway.ts';
import { startGatewayProcess } from './gateway-process.ts';
import type { GatewayProcess } from './gateway-process.ts';
import { request } from './raw-http.ts';
import type { HttpResponse } from './raw-http.ts';
import { startScriptedEngine } from '../../src/testing.ts';
import type { ScriptedEngine } from '../../src/testing/scripted-engine.ts';
import { openBeside } from './store-place.ts';

export interface Site {
  readonly folder: string;
  readonly engine: ScriptedEngine;
  /** Another connection to the store, as the command line would open. */
  readonly store: Store;
  readonly storeUrl: string;
  readonly team: TestTeam;
  /** Writes the configuration file, with `PATIENT` where it says nothing else; JSON is valid YAML. */
  configure(config: Readonly<Record<string, unknown>>): Promise<void>;
  /** Arguments of `serve` on free ports with everything of this site, then `more`. */
  args(...more: readonly string[]): string[];
  serve(...more: readonly string[]): Promise<GatewayProcess>;
  close(): Promise<void>;
}

/** What a machine may take whose processes stand still for a moment: nothing here is refused for it. */
const PATIENT = { limits: { shed_loop_delay_ms: 0 }, store_options: { command_timeout_ms: 5000 } };

export async function openSite(): Promise<Site> {
  const folder = await mkdtemp(join(tmpdir(), 'lingate-site-'));
  const storeUrl = `sqlite:${folder}/lingate.db`;
  const engine = await startScriptedEngine();
  const store = await openBeside(storeUrl);
  const file = join(folder, 'lingate.yaml');
  const configure = ({ limits, store_options, ...config }: Readonly<Record<string, unknown>>): Promise<void> => {
    const patient = {
      limits: { ...PATIENT.limits, ...(limits as object) },
      store_options: { ...PATIENT.store_options, ...(store_options as object) },
    };
    return writeFile(file, JSON.stringify({ ...config, ...patient }));
  };
  await configure({ engine: { urls: [engine.url] } });
  const args = (...more: readonly string[]): string[] => {
    const own = ['serve', '--config', file, '--store', storeUrl];
    for (const flag of ['--listen', '--ops']) if (!more.includes(flag)) own.push(flag, '127.0.0.1:0');
    return [...own, ...more];
  };
  return {
    folder,
    engine,
    store,
    storeUrl,
    team: await makeTeam(store),
    configure,
    args,
    serve: (...more) => startGatewayProcess({ args: args(...more), cwd: folder }),
    async close() {
      await store.close();
      await engine.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** POST /v1/translate of ten characters, on a connection of its own. */
export function translate(
  port: number,
  key: string,
  options: { readonly tls?: boolean; readonly target?: string } = {},
): Promise<HttpResponse> {
  return request({
    port,
    tls: options.tls ?? false,
    method: 'POST',
    path: '/v1/translate',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ text: ['0123456789'], target_lang: options.target ?? 'DE' }),
  });
}

/** A page of the ops listener, as `STATUS body`. */
export async function opsPage(gateway: GatewayProcess, path: string): Promise<string> {
  const { host, port } = new URL(gateway.opsUrl);
  const { status, body } = await request({ port: Number(port), path, headers: { Host: host, Connection: 'close' } });
  return `${status} ${body}`;
}

/** The log lines with this message. */
export function logged(gateway: GatewayProcess, message: string): Record<string, unknown>[] {
  const lines = gateway
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'));
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>).filter(({ msg }) => msg === message);
}

/** Process ids of the workers. */
export function workersOf(gateway: GatewayProcess): number[] {
  const { pid } = gateway.process;
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}
