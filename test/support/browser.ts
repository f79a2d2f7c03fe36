// A real Chromium without a window and without a network but this machine, driven over a pipe by its own protocol.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { launch } from '../support/start-program.ts';
import { DevTools } from './dev-tools.ts';
import { Page } from './page-in-browser.ts';

export interface Browser {
  newPage(): Promise<Page>;
  close(): Promise<void>;
}

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
  const program = launch('chromium', [...FLAGS, `--user-data-dir=${profile}`], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
  const [, , , commands, answers] = program.child.stdio as unknown as [null, null, null, Writable, Readable];
  const devTools = new DevTools(commands, answers);
  void program.ended.then(() => devTools.end('Chromium has ended'));
  return {
    async newPage() {
      const { targetId } = await devTools.send<{ targetId: string }>('Target.createTarget', { url: 'about:blank' });
      const { sessionId } = await devTools.send<{ sessionId: string }>('Target.attachToTarget', { targetId, flatten: true });
      return Page.open(devTools, sessionId);
    },
    async close() {
      await program.end();
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
