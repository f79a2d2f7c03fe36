// Programs that Debian packages: looks whether they are there, installs what is missing where it may, otherwise says what to install.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import process from 'node:process';

/** A program of a Debian package that something here starts. */
export interface Need {
  readonly package: string;
  /** A file that shows that the package is there. */
  readonly file: string;
  readonly why: string;
}

/** Installs what is missing where it may; otherwise says what to install and ends the process. */
export function ensureInstalled(needs: readonly Need[]): void {
  const missing = needs.filter((need) => !existsSync(need.file));
  if (missing.length > 0) install(missing);
}

function install(needs: readonly Need[]): void {
  const packages = needs.map((need) => need.package);
  const apt = aptCommand();
  if (apt === undefined) {
    for (const need of needs) process.stderr.write(`missing: ${need.package} (${need.why})\n`);
    fail(`Install them first, on Debian with: apt-get install --no-install-recommends ${packages.join(' ')}`);
  }
  process.stdout.write(`Installing what is missing: ${packages.join(' ')}\n`);
  run([...apt, 'update']);
  // Services are not to start by themselves: tests start their own, on free ports.
  run([...apt, '-o', 'Dpkg::Options::=--force-confold', 'install', '-y', '--no-install-recommends', ...packages]);
  const still = needs.filter((need) => !existsSync(need.file));
  if (still.length > 0) fail(`Installed, but not found: ${still.map((need) => need.file).join(', ')}. Is this Debian?`);
}

/** `undefined` when this user may not install packages or there is no apt-get. */
function aptCommand(): string[] | undefined {
  if (!existsSync('/usr/bin/apt-get')) return undefined;
  if (process.getuid?.() === 0) return ['apt-get'];
  const sudo = spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' });
  return sudo.status === 0 ? ['sudo', '-n', 'apt-get'] : undefined;
}

function run(command: readonly string[]): void {
  const [program = '', ...args] = command;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const result = spawnSync(program, args, { stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8', env });
  if (result.status !== 0) fail(`${command.join(' ')} failed:\n${result.stderr}`);
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
