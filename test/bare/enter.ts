// Runs a program in a root file system, in namespaces of its own: its mounts and processes end with it, also when this process is killed.
import process from 'node:process';
import { start } from './command.ts';
import type { Running } from './command.ts';

interface EnterOptions {
  readonly limitMs: number;
  /** The whole environment, but for a PATH where it has none. */
  readonly env?: Readonly<Record<string, string>>;
  /** User and group by number; by default root. */
  readonly user?: string;
  readonly cwd?: string;
  /** Folders of this machine that are seen under a path inside. */
  readonly binds?: readonly (readonly [folder: string, path: string])[];
  readonly show?: (text: string) => void;
}

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

// In its own mount namespace, so that nothing is left mounted. /dev holds what every machine has, nothing of this one's disks.
const SETUP = `set -eu
root=$1 user=$2; shift 2
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t tmpfs -o mode=755 dev "$root/dev"
for name in null zero full random urandom tty; do : > "$root/dev/$name"; mount --bind "/dev/$name" "$root/dev/$name"; done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts"
mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
ln -s pts/ptmx "$root/dev/ptmx"; ln -s /proc/self/fd "$root/dev/fd"
ln -s fd/0 "$root/dev/stdin"; ln -s fd/1 "$root/dev/stdout"; ln -s fd/2 "$root/dev/stderr"
while [ "$1" != -- ]; do mkdir -p "$root$2"; mount --bind "$1" "$root$2"; shift 2; done; shift
exec chroot --userspec="$user" "$root" env -i "$@"`;

/** `env` is the one inside. */
const SETUP_USES = ['unshare', 'sh', 'mount', 'mkdir', 'ln', 'chroot'] as const;

/** Starts it as the first process there: `bash` as such also collects what its children leave behind. */
export function enter(root: string, program: readonly string[], options: EnterOptions): Running {
  const { limitMs, env = {}, user = '0:0', cwd = '/', binds = [], show } = options;
  const variables = Object.entries({ PATH, ...env }).map(([name, value]) => `${name}=${value}`);
  const namespaces = ['--mount', '--pid', '--ipc', '--uts', '--fork', '--kill-child'];
  const inside = [...binds.flat(), '--', `--chdir=${cwd}`, ...variables, ...program];
  const args = [...namespaces, 'sh', '-c', SETUP, 'setup', root, user, ...inside];
  // However this process ends, `unshare` is killed with it, and with that everything inside.
  const outside = { PATH: process.env['PATH'] ?? PATH };
  return start('setpriv', ['--pdeathsig', 'KILL', 'unshare', ...args], {
    limitMs,
    env: outside,
    uses: SETUP_USES,
    ...(show === undefined ? {} : { show }),
  });
}
