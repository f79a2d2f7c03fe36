// Debian's headless Chromium, limited to this machine's network and driven by puppeteer-core.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import puppeteer from 'puppeteer-core';
import { startProgram } from './start-program.ts';
import { Tab } from './tab.ts';
import type { Look } from './tab.ts';

export interface Browser {
  /** An empty page with its own cookies and storage, by default 1280 by 900 pixels and light. */
  newTab(look?: Look): Promise<Tab>;
  close(): Promise<void>;
}

const READY = /DevTools listening on (ws:\/\/\S+)/;
/** The first start on a machine reads a few hundred megabytes. */
const START_MS_MAX = 45_000;
const ANSWER_MS_MAX = 30_000;

const FLAGS = [
  '--headless',
  '--remote-debugging-port=0',
  '--disable-dev-shm-usage',
  '--disable-gpu',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--no-default-browser-check',
  // No name of another machine can be resolved: everything it loads must come from here.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
  // As root, Chromium starts only without its sandbox; it loads nothing but our own pages.
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
];

/** Resolves when it accepts commands; rejects, with its name, if it cannot be started. */
export async function startBrowser(): Promise<Browser> {
  const profile = await mkdtemp(join(tmpdir(), 'lingate-chromium-'));
  const remove = (): Promise<void> => rm(profile, { recursive: true, force: true, maxRetries: 5 });
  const options = { ready: READY, readyMsMax: START_MS_MAX };
  const program = await startProgram('chromium', [...FLAGS, `--user-data-dir=${profile}`], options).catch(async (error: unknown) => {
    await remove();
    throw error;
  });
  const browserWSEndpoint = READY.exec(program.output)![1]!;
  const browser = await puppeteer.connect({ browserWSEndpoint, defaultViewport: null, protocolTimeout: ANSWER_MS_MAX });
  return {
    async newTab(look = {}) {
      const context = await browser.createBrowserContext();
      return Tab.open(await context.newPage(), look);
    },
    async close() {
      await browser.disconnect();
      await program.end();
      await remove();
    },
  };
}
