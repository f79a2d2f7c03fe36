// What a machine needs beside Debian to reach its registries: proxies, certificates, settings of npm and apt. Found, never known by name.
import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import process from 'node:process';
import { run } from './command.ts';

/** Where Debian keeps certificates that an administrator adds: they outlive an installation of `ca-certificates`. */
const OWN_CERTIFICATES = '/usr/local/share/ca-certificates/machine.crt';

const DEBIAN_CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';

const PROXIES = ['http_proxy', 'https_proxy', 'no_proxy', 'all_proxy'];
const CERTIFICATES = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'CURL_CA_BUNDLE', 'GIT_SSL_CAINFO', 'REQUESTS_CA_BUNDLE'];
/** npm's settings on the way to a registry; set in the environment they beat its files. */
const NPM_SETTINGS = ['registry', 'cafile', 'proxy', 'https_proxy', 'noproxy', 'strict_ssl', 'replace_registry_host'];

/** What is put into a fresh root file system, so that `npm` and `apt-get` work in it as they do on this machine. */
export interface MachineSettings {
  /** Variables for every command in it. */
  readonly env: Readonly<Record<string, string>>;
  /** The certificates that this machine trusts, PEM, and where its settings expect them. */
  readonly certificates: { readonly pem: string; readonly paths: readonly string[] };
  /** npm's files of settings, all that there are. */
  readonly npmrc: { readonly global: string | undefined; readonly user: string | undefined };
  /** Lines for `/etc/apt/apt.conf.d`. */
  readonly aptConf: string;
  /** This machine's Debian mirrors, each with what follows the release's name: `['http://…/debian', '-updates']`. */
  readonly mirrors: readonly (readonly [uri: string, suffix: string])[];
}

/** Reads them; run by npm, which says where its own files are. */
export async function machineSettings(): Promise<MachineSettings> {
  const { env } = process;
  const proxies = PROXIES.flatMap((name) => [name, name.toUpperCase()]).flatMap((name) => given(name, env[name]));
  const cafile = file(await npmSetting('cafile'));
  const named = CERTIFICATES.map((name) => [name, file(env[name])] as const).filter(([, path]) => path !== undefined);
  const trusted = named.map(([name]) => [name, OWN_CERTIFICATES] as const);
  const npm = NPM_SETTINGS.flatMap((name) =>
    given(`npm_config_${name}`, env[`npm_config_${name}`] ?? env[`NPM_CONFIG_${name.toUpperCase()}`]),
  );
  const ofNpm = cafile === undefined ? [] : [['npm_config_cafile', OWN_CERTIFICATES] as const];
  return {
    env: Object.fromEntries([...proxies, ...trusted, ...npm, ...ofNpm]),
    certificates: certificatesIn([...named.map(([, path]) => path), cafile, file(DEBIAN_CERTIFICATES)]),
    npmrc: { global: file(env['npm_config_globalconfig']), user: file(env['npm_config_userconfig']) },
    aptConf: await aptConf(),
    mirrors: await mirrors(),
  };
}

/** `sources.list` of a release on this machine's mirrors; `undefined` when they are not known. */
function sourcesOf(settings: MachineSettings, release: string): string | undefined {
  if (settings.mirrors.length === 0) return undefined;
  return settings.mirrors.map(([uri, suffix]) => `deb ${uri} ${release}${suffix} main\n`).join('');
}

/** The mirror that has the release itself, for debootstrap; without one it takes its own default. */
export function mirrorOf(settings: MachineSettings): string | undefined {
  return settings.mirrors.find(([, suffix]) => suffix === '')?.[0];
}

/** Puts them into a root file system whose npm lies under `/usr/local`. */
export function putSettings(root: string, release: string, settings: MachineSettings): void {
  const { certificates, npmrc, aptConf: conf } = settings;
  // Under their names on this machine too, because npm's files of settings may name them.
  for (const path of certificates.paths) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), certificates.pem);
  }
  if (npmrc.global !== undefined) copyInto(root, npmrc.global, '/usr/local/etc/npmrc');
  if (npmrc.user !== undefined) copyInto(root, npmrc.user, join(homeOf(root), '.npmrc'));
  for (const path of ['/etc/resolv.conf', '/etc/hosts']) if (existsSync(path)) copyInto(root, path, path);
  writeFileSync(join(root, 'etc/apt/apt.conf.d/90machine'), conf);
  const sources = sourcesOf(settings, release);
  if (sources !== undefined) writeFileSync(join(root, 'etc/apt/sources.list'), sources);
}

/** The home folder of the one user that a fresh root file system has, by its own list of users. */
function homeOf(root: string): string {
  return /^[^:]*:[^:]*:0:[^:]*:[^:]*:([^:]*)/m.exec(readFileSync(join(root, 'etc/passwd'), 'utf8'))![1]!;
}

function copyInto(root: string, from: string, path: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  copyFileSync(from, join(root, path));
}

function given(name: string, value: string | undefined): (readonly [string, string])[] {
  return value === undefined || value === '' ? [] : [[name, value]];
}

function file(path: string | undefined): string | undefined {
  return path !== undefined && path !== '' && existsSync(path) && statSync(path).isFile() ? resolve(path) : undefined;
}

function certificatesIn(files: readonly (string | undefined)[]): MachineSettings['certificates'] {
  const paths = [...new Set(files.filter((path) => path !== undefined))];
  const pem = [...new Set(paths.map((path) => readFileSync(path, 'utf8')))].join('\n');
  return { pem, paths: paths.length === 0 ? [] : [...new Set([OWN_CERTIFICATES, ...paths])] };
}

/** What npm says of one of its settings. */
async function npmSetting(name: string): Promise<string | undefined> {
  const { status, output } = await run('npm', ['config', 'get', name], { limitMs: 20_000 });
  const value = output.trim().split('\n').at(-1) ?? '';
  return status === 0 && value !== 'null' && value !== 'undefined' ? value : undefined;
}

/** npm's entry, of the npm that runs this script. */
export function npmCli(): string {
  const cli = process.env['npm_execpath'];
  if (cli === undefined) throw new Error('start this with npm run: npm knows where its own files and settings are');
  return cli;
}

/** How apt reaches its mirrors: proxies, certificates, checks of dates. Hooks and folders of this machine's programs stay out. */
async function aptConf(): Promise<string> {
  const { output } = await run('apt-config', ['dump', '--no-empty', '--format', '%F "%v";%n', 'Acquire'], { limitMs: 20_000 });
  return output
    .split('\n')
    .filter((line) => /^Acquire::(?:https?|Check-|Retries)/i.test(line))
    .map((line) => `${line}\n`)
    .join('');
}

async function mirrors(): Promise<MachineSettings['mirrors']> {
  const release = /^VERSION_CODENAME=(.+)$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1];
  if (release === undefined) return [];
  const format = ['indextargets', '--format', '$(REPO_URI) $(RELEASE) $(COMPONENT)', 'Created-By: Packages'];
  const { output } = await run('apt-get', format, { limitMs: 20_000 });
  const lines = new Set(output.split('\n').filter((line) => line.endsWith(' main')));
  return [...lines].flatMap((line) => {
    const [uri = '', suite = ''] = line.split(' ');
    return suite.startsWith(release) ? [[uri, suite.slice(release.length)] as const] : [];
  });
}
