// Parses a store URL of the Redis family: a single server, a cluster, or a master that sentinels know by name.
import { StoreError } from '../../domain/store-unavailable.ts';

interface HostPort {
  readonly host: string;
  readonly port: number;
}

interface TargetBase {
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly tls: boolean;
  /** The URL without credentials, for messages. */
  readonly shown: string;
}

export type RedisTarget =
  | (TargetBase & { readonly kind: 'server'; readonly server: HostPort; readonly database: number })
  | (TargetBase & { readonly kind: 'cluster'; readonly nodes: readonly HostPort[] })
  | (TargetBase & { readonly kind: 'sentinel'; readonly sentinels: readonly HostPort[]; readonly name: string; readonly database: number });

const URL_PATTERN = /^(rediss?)(?:\+(cluster|sentinel))?:\/\/(?:([^@/?#]*)@)?([^@/?#]+)(?:\/([^?#]*))?$/;
const HOST_PATTERN = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9._-]+))(?::(\d{1,5}))?$/;
const REDIS_PORT = 6379;
const SENTINEL_PORT = 26_379;
const HOSTS_MAX = 100;

const EXPECTED =
  'expected redis://[USER:PASSWORD@]HOST:PORT[/DB] (rediss:// for TLS), redis+cluster://HOST:PORT,HOST:PORT or redis+sentinel://HOST:PORT,HOST:PORT/NAME';

/** Throws a `StoreError` that describes what is expected and contains nothing of the input. */
export function parseRedisUrl(url: string): RedisTarget {
  const match = URL_PATTERN.exec(url);
  if (match === null) throw wrong('has an unknown format');
  const [, scheme = '', kind = 'server', userInfo, hostList = '', path = ''] = match;
  const tls = scheme === 'rediss';
  const hosts = parseHosts(hostList, kind === 'sentinel' ? SENTINEL_PORT : REDIS_PORT);
  const shown = `${scheme}${kind === 'server' ? '' : `+${kind}`}://${hostList}${path === '' ? '' : `/${path}`}`;
  const base = { ...parseUserInfo(userInfo), tls, shown };
  if (kind === 'cluster') {
    if (path !== '') throw wrong('names a database, which a cluster does not have');
    return { ...base, kind, nodes: hosts };
  }
  if (kind === 'sentinel') {
    const [name = '', database = ''] = path.split('/', 2);
    if (!/^[A-Za-z0-9._-]+$/.test(name)) throw wrong('lacks the NAME of the master that the sentinels watch');
    if (tls) throw wrong('asks for TLS with sentinels, which is not supported');
    return { ...base, kind, sentinels: hosts, name, database: parseDatabase(database) };
  }
  const [server, another] = hosts;
  if (server === undefined || another !== undefined)
    throw wrong('names several hosts but is neither redis+cluster:// nor redis+sentinel://');
  return { ...base, kind: 'server', server, database: parseDatabase(path) };
}

function parseHosts(list: string, defaultPort: number): HostPort[] {
  const parts = list.split(',');
  if (parts.length > HOSTS_MAX) throw wrong(`names more than ${HOSTS_MAX} hosts`);
  return parts.map((part) => {
    const match = HOST_PATTERN.exec(part);
    const host = match?.[1] ?? match?.[2];
    const port = Number(match?.[3] ?? defaultPort);
    if (host === undefined || port < 1 || port > 65_535) throw wrong('has an invalid host or port');
    return { host, port };
  });
}

function parseUserInfo(userInfo: string | undefined): { username: string | undefined; password: string | undefined } {
  if (userInfo === undefined) return { username: undefined, password: undefined };
  const colon = userInfo.indexOf(':');
  if (colon === -1) throw wrong('has a user but no password (a password alone is written :PASSWORD@)');
  const [username, password] = [decode(userInfo.slice(0, colon)), decode(userInfo.slice(colon + 1))];
  return { username: username === '' ? undefined : username, password };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw wrong('has credentials that are not correctly percent-encoded');
  }
}

function parseDatabase(text: string): number {
  if (text === '') return 0;
  if (!/^\d{1,5}$/.test(text)) throw wrong('has a database that is not a number');
  return Number(text);
}

function wrong(what: string): StoreError {
  return new StoreError(`the store's URL ${what}: ${EXPECTED}`);
}
