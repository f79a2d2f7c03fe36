// A machine that never saw this project: Debian's base system, this machine's Node and npm with their settings, a clone of HEAD, nothing else.

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { atEnd, expectPassed, mustRun } from './command.ts';
import { enter } from './enter.ts';
import type { Ran, Running } from './command.ts';
import { putSettings } from './machine-settings.ts';
import type { MachineSettings } from './machine-settings.ts';
import { changeNode, NODE_NEEDS, nodeFile, putNode } from './node.ts';
import type { NodeName } from './node.ts';
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
  /** Puts that Node in the place of its own. */
  useNode(name: NodeName): Promise<void>;
  remove(): void;
}

interface InsideOptions {
  readonly limitMs: number;
  readonly show?: (text: string) => void;
}

const PACKAGES_MS = 120_000;

export async function bareMachine(debian: Debian, settings: MachineSettings): Promise<BareMachine> {
  const folder = ownFolder();
  const root = join(folder, 'root');
  try {
    await makeRoot(debian, root, settings);
    putNode(root, await nodeFile('own'));
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
  const runInside = (command: string, options: InsideOptions): Promise<Ran> => atEnd(begin(command, options));
  return {
    root,
    start: begin,
    run: runInside,
    async useNode(name) {
      changeNode(root, await nodeFile(name));
      const packages = NODE_NEEDS[name];
      if (packages === undefined) return;
      const command = `apt-get update && apt-get install --yes --no-install-recommends ${packages.join(' ')}`;
      expectPassed(command, await runInside(command, { limitMs: PACKAGES_MS }));
    },
    remove: () => removeFolder(folder),
  };
}

async function cloneHead(folder: string): Promise<void> {
  await mustRun('git', ['clone', '--quiet', '--depth', '1', `file://${PROJECT}`, folder], { limitMs: 120_000 });
}
