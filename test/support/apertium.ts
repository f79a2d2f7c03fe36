// Starts the real Apertium APY (Debian: apertium-apy, apertium-eng-spa) on a free port.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Apertium {
  readonly url: string;
  stop(): Promise<void>;
}

const MODES = '/usr/share/apertium/modes';
const DICTIONARIES = '/usr/share/apertium/apertium-eng-spa';
const NAMES = '/usr/share/apertium-apy/langNames.db';
const START_MS_MAX = 20_000;

/** Resolves when it answers `/listPairs`. It can translate ENG<->SPA and tell the two apart. */
export async function startApertium(): Promise<Apertium> {
  const port = await freePort();
  const analysers = await analyserModes();
  const child = spawn('apertium-apy', [MODES, '-s', analysers, '-p', String(port), '-l', NAMES], {
    // Its pipelines are processes of their own: with a group they can be ended together.
    detached: true,
    env: { ...process.env, LANG: 'C.UTF-8' },
    stdio: 'ignore',
  });
  const exited = once(child, 'close').catch((error: Error) => error);
  const stop = async (): Promise<void> => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) process.kill(-child.pid, 'SIGKILL');
    await exited;
    await rm(analysers, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${port}`;
  const started = await Promise.race([untilAnswered(`${url}/listPairs`), exited.then(() => false)]);
  if (started) return { url, stop };
  await stop();
  throw new Error('apertium-apy does not start: install the Debian packages apertium-apy and apertium-eng-spa');
}

/** The pairs come without analyser modes, without which APY cannot identify a language; their dictionaries are all it takes. */
async function analyserModes(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lingate-apertium-'));
  await mkdir(join(folder, 'modes'));
  await writeFile(join(folder, 'modes', 'eng-morph.mode'), `lt-proc '${DICTIONARIES}/eng-spa.automorf.bin'\n`);
  await writeFile(join(folder, 'modes', 'spa-morph.mode'), `lt-proc '${DICTIONARIES}/spa-eng.automorf.bin'\n`);
  return folder;
}

async function untilAnswered(url: string): Promise<boolean> {
  const endMs = Date.now() + START_MS_MAX;
  while (Date.now() < endMs) {
    const answered = await fetch(url).then(
      (response) => response.arrayBuffer().then(() => response.ok),
      () => false,
    );
    if (answered) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
