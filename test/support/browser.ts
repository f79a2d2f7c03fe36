// A real Chromium without a window and without a network but this machine, driven over a pipe by its own protocol.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import type { Readable, Writable } from 'node:stream';
import { DevTools } from './dev-tools.ts';
import { Page } from './page-in-browser.ts';

export interface Browser {
  newPage(): Promise<Page>;
  close(): Promise<void>;
}

const PROGRAM = '/usr/bin/chromium';
const FLAGS = [
  '--headless',
  // Tests often run as root, in containers, where Chromium cannot build its sandbox; it only ever sees our own pages.
  '--no-sandbox',
  '--disable-dev-shm-usage',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--no-default-browser-check',
  // There is no name that it could find: what it loads must come from here.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
  '--remote-debugging-pipe',
];

export async function startBrowser(): Promise<Browser> {
  const profile = await mkdtemp(join(tmpdir(), 'lingate-chromium-'));
  const child = spawn(PROGRAM, [...FLAGS, `--user-data-dir=${profile}`], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
  const kill = (): boolean => child.kill('SIGKILL');
  process.once('exit', kill);
  const exited = once(child, 'exit');
  const [, , , commands, answers] = child.stdio as unknown as [null, null, null, Writable, Readable];
  const devTools = new DevTools(commands, answers);
  void exited.then(() => devTools.end('Chromium has ended'));
  return {
    async newPage() {
      const { targetId } = await devTools.send<{ targetId: string }>('Target.createTarget', { url: 'about:blank' });
      const { sessionId } = await devTools.send<{ sessionId: string }>('Target.attachToTarget', { targetId, flatten: true });
      return Page.open(devTools, sessionId);
    },
    async close() {
      kill();
      await exited;
      process.off('exit', kill);
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
