// Programs that Debian packages: looks whether they are there, installs what is missing where it may, otherwise says what to install.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import process from 'node:process';
import type { Need } from './programs.ts';

// Services are not to start by themselves: tests start their own, on free ports.
const INSTALL = ['-o', 'Dpkg::Options::=--force-confold', 'install', '-y', '--no-install-recommends'];
const APT_MS_MAX = 600_000;

/** Installs what is missing where it may; otherwise says what to install and ends the process. */
export function ensureInstalled(needs: readonly Need[]): void {
  const missing = needs.filter((need) => !existsSync(need.file));
  if (missing.length > 0) install(missing);
}

function install(needs: readonly Need[]): void {
  const packages = [...new Set(needs.map((need) => need.package))];
  const apt = aptCommand();
  if (apt === undefined) fail(needs, `Install them first, on Debian with: apt-get install --no-install-recommends ${packages.join(' ')}`);
  process.stdout.write(`Installing what is missing: ${packages.join(' ')}\n`);
  const reason = run([...apt, 'update']) ?? run([...apt, ...INSTALL, ...packages]);
  const still = needs.filter((need) => !existsSync(need.file));
  if (still.length > 0) fail(still, reason ?? 'Installed, but not found where they should be. Is this Debian?');
}

/** `undefined` when this user may not install packages or there is no apt-get. */
function aptCommand(): string[] | undefined {
  if (!existsSync('/usr/bin/apt-get')) return undefined;
  if (process.getuid?.() === 0) return ['apt-get'];
  const sudo = spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' });
  return sudo.status === 0 ? ['sudo', '-n', 'apt-get'] : undefined;
}

/** Why it failed, or `undefined`. */
function run(command: readonly string[]): string | undefined {
  const [program = '', ...args] = command;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const result = spawnSync(program, args, { stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8', env, timeout: APT_MS_MAX });
  if (result.status === 0) return undefined;
  return `${command.join(' ')} failed: ${result.error?.message ?? ''}\n${result.stderr ?? ''}`;
}

function fail(needs: readonly Need[], message: string): never {
  for (const need of needs) process.stderr.write(`missing: ${need.file} of the Debian package ${need.package} (${need.why})\n`);
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
