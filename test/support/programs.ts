// THE table of external programs: what tests, benches and evidence start, from which Debian package, why, and in which commands.

/** The tasks that start programs (test/task.ts). */
export type Command = (typeof COMMANDS)[number];

/** A program from a Debian package, and the commands that need it. */
export interface Need {
  readonly package: string;
  /** The program, or a file that shows that the package is installed; the same on Debian 12 and 13. */
  readonly file: string;
  readonly for: readonly Command[];
  readonly why: string;
}

export type ProgramName = keyof typeof PROGRAMS;

/** These run on this machine and need what they start to be installed. */
const EVERY = [
  'test',
  'test:evidence',
  'test:long',
  'test:load',
  'test:power',
  'scorecard',
  'soak',
  'documents',
  'bench',
  'bench:ledger',
  'bench:teams',
] as const;
/** These create root file systems and run programs in them. */
const ROOTS = ['test:bare', 'test:image'] as const;
export const COMMANDS = [...EVERY, ...ROOTS, 'release', 'test:office'] as const;

const TEST = ['test'] as const;
const EVIDENCE = ['test:evidence', 'test:long', 'scorecard'] as const;
const PAGES = [...TEST, 'test:evidence', 'test:long'] as const;
const CARD = ['scorecard'] as const;
const BENCH = ['bench'] as const;
const FRONTS = [...EVIDENCE, ...BENCH] as const;

/** Programs by the name that starts them. Node and what npm installs are not listed: nothing works without them. */
export const PROGRAMS = {
  'redis-server': { package: 'redis-server', file: '/usr/bin/redis-server', for: EVERY, why: 'tests the Redis store on a real Redis' },
  'apertium-apy': { package: 'apertium-apy', file: '/usr/bin/apertium-apy', for: EVIDENCE, why: 'a real engine behind the adapter' },
  chromium: {
    package: 'chromium',
    file: '/usr/bin/chromium',
    for: ['test:evidence', 'test:long'],
    why: 'shows pages in a real browser',
  },
  curl: { package: 'curl', file: '/usr/bin/curl', for: [...PAGES, ...ROOTS], why: 'runs the samples of docs and demo as they are' },
  'systemd-analyze': {
    package: 'systemd',
    file: '/usr/bin/systemd-analyze',
    for: ['test:evidence'],
    why: 'checks the systemd unit',
  },
  promtool: { package: 'prometheus', file: '/usr/bin/promtool', for: ['test:evidence'], why: 'evaluates the alerts on real metrics' },
  openssl: {
    package: 'openssl',
    file: '/usr/bin/openssl',
    for: [...PAGES, 'test:power'],
    why: 'creates certificates for tests of TLS',
  },
  sqlite3: { package: 'sqlite3', file: '/usr/bin/sqlite3', for: TEST, why: 'imports exports of usage and invoices' },
  pg_virtualenv: {
    package: 'postgresql',
    file: '/usr/bin/pg_virtualenv',
    for: EVIDENCE,
    why: 'a PostgreSQL of its own for the example of a store in it',
  },
  python3: {
    package: 'python3',
    file: '/usr/bin/python3',
    for: [...TEST, ...EVIDENCE],
    why: "sends requests as DeepL's SDK for Python does",
  },
  ruby: { package: 'ruby', file: '/usr/bin/ruby', for: EVIDENCE, why: "sends requests as DeepL's SDK for Ruby does" },
  sh: {
    package: 'dash',
    file: '/usr/bin/sh',
    for: [...TEST, ...EVIDENCE, ...ROOTS, 'test:power'],
    why: "runs samples and image steps; limits a process's disk space",
  },
  true: {
    package: 'coreutils',
    file: '/usr/bin/true',
    for: [...EVIDENCE, ...BENCH, ...ROOTS],
    why: 'shows whether taskset, setpriv and sudo work',
  },
  jq: { package: 'jq', file: '/usr/bin/jq', for: EVIDENCE, why: "reads JSON in the manual's commands" },
  cat: {
    package: 'coreutils',
    file: '/usr/bin/cat',
    for: [...TEST, ...EVIDENCE],
    why: 'writes files as the manual says; keeps a server running',
  },
  date: { package: 'coreutils', file: '/usr/bin/date', for: EVIDENCE, why: 'the month of its invoice' },
  sed: { package: 'sed', file: '/usr/bin/sed', for: EVIDENCE, why: 'its ports in the file for nginx' },
  sha256sum: { package: 'coreutils', file: '/usr/bin/sha256sum', for: EVIDENCE, why: 'checks a release as the manual says' },
  sleep: { package: 'coreutils', file: '/usr/bin/sleep', for: [...TEST, ...EVIDENCE], why: 'would outlive its parent' },
  cp: { package: 'coreutils', file: '/usr/bin/cp', for: EVIDENCE, why: 'restores a backup as the manual says' },
  mv: { package: 'coreutils', file: '/usr/bin/mv', for: EVIDENCE, why: 'moves the replaced files aside' },
  rm: { package: 'coreutils', file: '/usr/bin/rm', for: EVIDENCE, why: 'belongs to that' },
  find: { package: 'findutils', file: '/usr/bin/find', for: TEST, why: "runs the Dockerfile's steps" },
  touch: { package: 'coreutils', file: '/usr/bin/touch', for: EVIDENCE, why: 'tries a file system that must be read-only' },
  setpriv: {
    package: 'util-linux',
    file: '/usr/bin/setpriv',
    for: [...EVIDENCE, ...ROOTS],
    why: 'runs without root; ends with its parent',
  },
  unshare: { package: 'util-linux', file: '/usr/bin/unshare', for: [...EVIDENCE, ...ROOTS], why: 'creates a file system' },
  mount: { package: 'mount', file: '/usr/bin/mount', for: [...EVIDENCE, ...ROOTS], why: 'makes that file system read-only' },
  haproxy: { package: 'haproxy', file: '/usr/sbin/haproxy', for: FRONTS, why: 'request smuggling through a front proxy; a contestant' },
  nginx: {
    package: 'nginx',
    file: '/usr/sbin/nginx',
    for: FRONTS,
    why: "the manual's two gateways; a front proxy that parses HTTP differently; the baseline",
  },
  strace: { package: 'strace', file: '/usr/bin/strace', for: CARD, why: "watches SQLite's system calls and makes them fail" },
  git: {
    package: 'git',
    file: '/usr/bin/git',
    for: [...CARD, ...BENCH, 'test:bare', 'release'],
    why: 'names the commit in results and releases',
  },
  debootstrap: { package: 'debootstrap', file: '/usr/sbin/debootstrap', for: ROOTS, why: 'creates root file systems of Debian' },
  buildah: { package: 'buildah', file: '/usr/bin/buildah', for: ['test:image'], why: 'builds the Dockerfile without Docker' },
  unzip: { package: 'unzip', file: '/usr/bin/unzip', for: EVIDENCE, why: 'unpacks helm and kubectl' },
  tar: { package: 'tar', file: '/usr/bin/tar', for: ROOTS, why: 'keeps a root file system for the day' },
  chroot: { package: 'coreutils', file: '/usr/sbin/chroot', for: ROOTS, why: 'runs a program in a root file system' },
  mkdir: {
    package: 'coreutils',
    file: '/usr/bin/mkdir',
    for: [...EVIDENCE, ...ROOTS],
    why: "creates mount points in it, and the manual's folder",
  },
  ln: { package: 'coreutils', file: '/usr/bin/ln', for: ROOTS, why: 'its /dev' },
  'apt-config': { package: 'apt', file: '/usr/bin/apt-config', for: ROOTS, why: 'shows how the machine reaches its mirrors' },
  'apt-get': { package: 'apt', file: '/usr/bin/apt-get', for: ROOTS, why: 'shows mirrors; installs what is missing' },
  sudo: { package: 'sudo', file: '/usr/bin/sudo', for: [], why: 'does that where we are not root' },
  soffice: {
    package: 'libreoffice-common',
    file: '/usr/bin/soffice',
    for: ['test:office'],
    why: 'opens documents whose texts were replaced',
  },
  wrk: { package: 'wrk', file: '/usr/bin/wrk', for: BENCH, why: 'the load of the bench' },
  valgrind: { package: 'valgrind', file: '/usr/bin/valgrind', for: ['bench:ledger'], why: 'counts the instructions of Redis' },
  callgrind_control: { package: 'valgrind', file: '/usr/bin/callgrind_control', for: ['bench:ledger'], why: 'says from when on' },
  taskset: { package: 'util-linux', file: '/usr/bin/taskset', for: BENCH, why: 'pins programs to cores' },
} as const satisfies Readonly<Record<string, Need>>;

const OFFICE = { for: ['test:office'], why: 'what LibreOffice opens' } as const;
const LUA = { for: BENCH, why: 'the OpenResty-style gateway' } as const;

/** Packages that those programs need as well. */
export const PARTS = {
  'eng-spa': { package: 'apertium-eng-spa', file: '/usr/share/apertium/modes/eng-spa.mode', for: EVIDENCE, why: 'a language pair' },
  writer: { package: 'libreoffice-writer-nogui', file: '/usr/lib/libreoffice/program/libswlo.so', ...OFFICE },
  calc: { package: 'libreoffice-calc-nogui', file: '/usr/lib/libreoffice/program/libsclo.so', ...OFFICE },
  impress: { package: 'libreoffice-impress-nogui', file: '/usr/lib/libreoffice/program/libsdlo.so', ...OFFICE },
  'nginx-lua': { package: 'libnginx-mod-http-lua', file: '/usr/lib/nginx/modules/ngx_http_lua_module.so', ...LUA },
  'lua-redis': { package: 'lua-nginx-redis', file: '/usr/share/lua/5.1/nginx/redis.lua', ...LUA },
  'lua-lrucache': { package: 'lua-resty-lrucache', file: '/usr/share/lua/5.1/resty/lrucache.lua', ...LUA },
  'lua-cjson': { package: 'lua-cjson', file: '/usr/share/lua/5.1/cjson/util.lua', ...LUA },
} as const satisfies Readonly<Record<string, Need>>;

/** The packages that a command needs. */
export function needsOf(command: Command): readonly Need[] {
  const needs: readonly Need[] = [...Object.values(PROGRAMS), ...Object.values(PARTS)];
  return needs.filter((need) => need.for.includes(command));
}

/** By its name, or `undefined`. */
export function commandNamed(name: string | undefined): Command | undefined {
  return COMMANDS.find((command) => command === name);
}
