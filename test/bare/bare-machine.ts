// A machine that never saw this project: Debian's base system, this machine's Node and npm with their settings, a clone of HEAD, nothing else.

import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { atEnd, mustRun } from './command.ts';
import { enter } from './enter.ts';
import type { Ran, Running } from './command.ts';
import { putSettings } from './machine-settings.ts';
import type { MachineSettings } from './machine-settings.ts';
import { putNode } from './node.ts';
import { cacheFolder, makeRoot, ownFolder, RELEASES, removeFolder } from './root-file-system.ts';
import type { Debian } from './root-file-system.ts';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const CHECKOUT = '/srv/lingate';
const NPM_CACHE = '/var/cache/npm';

export interface BareMachine {
  readonly root: string;
  /** Starts a command in the checkout. */
  start(command: string, options: InsideOptions): Running;
  run(command: string, options: InsideOptions): Promise<Ran>;
  remove(): void;
}

export interface InsideOptions {
  readonly limitMs: number;
  readonly show?: (text: string) => void;
}

export async function bareMachine(debian: Debian, settings: MachineSettings): Promise<BareMachine> {
  const folder = ownFolder();
  const root = join(folder, 'root');
  try {
    await makeRoot(debian, root, settings);
    putNode(root, process.env['npm_node_execpath'] ?? process.execPath);
    putSettings(root, RELEASES[debian], settings);
    await cloneHead(join(root, CHECKOUT));
  } catch (error) {
    removeFolder(folder);
    throw error;
  }
  // Without --norc it would take its standard input, a socket, for a remote login and read settings; `exit` keeps it the first process.
  const bash = (command: string): string[] => ['bash', '--norc', '-c', `export HOME=~\n${command}\nexit $?`];
  const begin = (command: string, { limitMs, show }: InsideOptions): Running =>
    enter(root, bash(command), {
      limitMs,
      cwd: CHECKOUT,
      ...(show === undefined ? {} : { show }),
      env: { LANG: 'C.UTF-8', ...settings.env, npm_config_cache: NPM_CACHE },
      binds: [
        [cacheFolder(`archives-${RELEASES[debian]}`), '/var/cache/apt/archives'],
        [cacheFolder('npm'), NPM_CACHE],
      ],
    });
  return {
    root,
    start: begin,
    run: (command, options) => atEnd(begin(command, options)),
    remove: () => removeFolder(folder),
  };
}

async function cloneHead(folder: string): Promise<void> {
  await mustRun('git', ['clone', '--quiet', '--depth', '1', `file://${PROJECT}`, folder], { limitMs: 120_000 });
}
