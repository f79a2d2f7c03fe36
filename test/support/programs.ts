// THE table of external programs: what tests, benches and evidence start, of which Debian package, for what, and in which commands.

/** The tasks that start programs (test/task.ts). */
export type Command = (typeof COMMANDS)[number];

/** What Debian packages, and which commands do not work without it. */
export interface Need {
  readonly package: string;
  /** The program, or a file that shows that the package is there; the same on Debian 12 and 13. */
  readonly file: string;
  readonly for: readonly Command[];
  readonly why: string;
}

export type ProgramName = keyof typeof PROGRAMS;

/** They run on this machine and need what they start installed. */
const EVERY = [
  'test',
  'test:evidence',
  'test:long',
  'test:load',
  'test:power',
  'scorecard',
  'soak',
  'isolation',
  'bench',
  'bench:curves',
  'bench:ledger',
  'bench:teams',
  'bench:history',
] as const;
/** They make root file systems and run things in these. */
const ROOTS = ['test:bare', 'test:image'] as const;
export const COMMANDS = [...EVERY, ...ROOTS, 'pictures', 'release'] as const;

const TEST = ['test'] as const;
const EVIDENCE = ['test:evidence', 'test:long', 'scorecard'] as const;
const PAGES = [...TEST, 'test:evidence', 'test:long'] as const;
const CARD = ['scorecard'] as const;
const BENCH = ['bench', 'bench:curves'] as const;
const FRONTS = [...EVIDENCE, ...BENCH] as const;

/** What is started, by the name that it is started by. Node and what npm installs are not in it: they are there or nothing is. */
export const PROGRAMS = {
  'redis-server': { package: 'redis-server', file: '/usr/bin/redis-server', for: EVERY, why: 'the Redis store is tried on a real Redis' },
  'apertium-apy': { package: 'apertium-apy', file: '/usr/bin/apertium-apy', for: TEST, why: 'a real engine behind the adapter' },
  chromium: {
    package: 'chromium',
    file: '/usr/bin/chromium',
    for: ['test:evidence', 'test:long', 'pictures'],
    why: 'pages in a real browser',
  },
  curl: { package: 'curl', file: '/usr/bin/curl', for: [...PAGES, ...ROOTS], why: 'the samples of docs and demo are run as they stand' },
  'systemd-analyze': {
    package: 'systemd',
    file: '/usr/bin/systemd-analyze',
    for: ['test:evidence'],
    why: 'the unit is checked by what reads it',
  },
  promtool: { package: 'prometheus', file: '/usr/bin/promtool', for: ['test:evidence'], why: 'the alerts are tried on real metrics' },
  openssl: {
    package: 'openssl',
    file: '/usr/bin/openssl',
    for: [...PAGES, 'test:power'],
    why: 'tests of TLS make their own certificates',
  },
  python3: { package: 'python3', file: '/usr/bin/python3', for: TEST, why: "requests as DeepL's SDK for Python sends them" },
  ruby: { package: 'ruby', file: '/usr/bin/ruby', for: TEST, why: "requests as DeepL's SDK for Ruby sends them" },
  sh: {
    package: 'dash',
    file: '/usr/bin/sh',
    for: [...TEST, ...EVIDENCE, ...ROOTS, 'test:power'],
    why: 'samples and image steps are pasted into a shell; a process with little disk',
  },
  true: {
    package: 'coreutils',
    file: '/usr/bin/true',
    for: [...EVIDENCE, ...BENCH, ...ROOTS],
    why: 'whether taskset, setpriv and sudo may do their work',
  },
  sleep: { package: 'coreutils', file: '/usr/bin/sleep', for: TEST, why: 'something that would outlive its parent' },
  cp: { package: 'coreutils', file: '/usr/bin/cp', for: TEST, why: 'a backup is restored as the manual says' },
  mv: { package: 'coreutils', file: '/usr/bin/mv', for: TEST, why: 'what it takes the place of goes aside' },
  rm: { package: 'coreutils', file: '/usr/bin/rm', for: TEST, why: 'and what belongs to that' },
  find: { package: 'findutils', file: '/usr/bin/find', for: TEST, why: "the Dockerfile's steps are run" },
  touch: { package: 'coreutils', file: '/usr/bin/touch', for: EVIDENCE, why: 'a file system that must not be writable is tried' },
  setpriv: { package: 'util-linux', file: '/usr/bin/setpriv', for: [...EVIDENCE, ...ROOTS], why: 'no root; ends with its parent' },
  unshare: { package: 'util-linux', file: '/usr/bin/unshare', for: [...EVIDENCE, ...ROOTS], why: 'a file system of its own' },
  mount: { package: 'mount', file: '/usr/bin/mount', for: [...EVIDENCE, ...ROOTS], why: 'that file system is made read-only' },
  haproxy: { package: 'haproxy', file: '/usr/sbin/haproxy', for: FRONTS, why: 'request smuggling through a front proxy; a contestant' },
  nginx: { package: 'nginx', file: '/usr/sbin/nginx', for: FRONTS, why: 'another one, which reads HTTP differently; the yardstick' },
  strace: { package: 'strace', file: '/usr/bin/strace', for: CARD, why: "SQLite's system calls are watched and made to fail" },
  git: {
    package: 'git',
    file: '/usr/bin/git',
    for: [...CARD, ...BENCH, 'test:bare', 'release'],
    why: 'results and releases name their commit',
  },
  debootstrap: { package: 'debootstrap', file: '/usr/sbin/debootstrap', for: ROOTS, why: 'fresh root file systems of Debian' },
  buildah: { package: 'buildah', file: '/usr/bin/buildah', for: ['test:image'], why: 'the Dockerfile is built without Docker' },
  tar: { package: 'tar', file: '/usr/bin/tar', for: ROOTS, why: 'a root file system is kept for the day' },
  chroot: { package: 'coreutils', file: '/usr/sbin/chroot', for: ROOTS, why: 'a program is run in a root file system' },
  mkdir: { package: 'coreutils', file: '/usr/bin/mkdir', for: ROOTS, why: 'places to mount on in it' },
  ln: { package: 'coreutils', file: '/usr/bin/ln', for: ROOTS, why: 'its /dev' },
  'apt-config': { package: 'apt', file: '/usr/bin/apt-config', for: ROOTS, why: "the machine's way to its mirrors" },
  'apt-get': { package: 'apt', file: '/usr/bin/apt-get', for: ROOTS, why: 'mirrors; what is missing is installed' },
  sudo: { package: 'sudo', file: '/usr/bin/sudo', for: [], why: 'for that, where we are not root' },
  taskset: { package: 'util-linux', file: '/usr/bin/taskset', for: BENCH, why: 'programs are pinned to cores' },
} as const satisfies Readonly<Record<string, Need>>;

const LUA = { for: BENCH, why: 'the OpenResty-style gateway' } as const;

/** What those programs need beside them. */
export const PARTS = {
  'eng-spa': { package: 'apertium-eng-spa', file: '/usr/share/apertium/modes/eng-spa.mode', for: TEST, why: 'a language pair' },
  'nginx-lua': { package: 'libnginx-mod-http-lua', file: '/usr/lib/nginx/modules/ngx_http_lua_module.so', ...LUA },
  'lua-redis': { package: 'lua-nginx-redis', file: '/usr/share/lua/5.1/nginx/redis.lua', ...LUA },
  'lua-lrucache': { package: 'lua-resty-lrucache', file: '/usr/share/lua/5.1/resty/lrucache.lua', ...LUA },
  'lua-cjson': { package: 'lua-cjson', file: '/usr/share/lua/5.1/cjson/util.lua', ...LUA },
} as const satisfies Readonly<Record<string, Need>>;

/** What a command does not work without. */
export function needsOf(command: Command): readonly Need[] {
  const needs: readonly Need[] = [...Object.values(PROGRAMS), ...Object.values(PARTS)];
  return needs.filter((need) => need.for.includes(command));
}

/** By its name, or `undefined`. */
export function commandNamed(name: string | undefined): Command | undefined {
  return COMMANDS.find((command) => command === name);
}
