// Parses a store URL of the Redis family: a single server, a cluster, or a master that sentinels know by name.
import { StoreError } from '../../domain/store-unavailable.ts';

interface HostPort {
  readonly host: string;
  readonly port: number;
}

export interface RedisTarget {
  readonly kind: 'server' | 'cluster' | 'sentinel';
  /** The server alone, nodes of the cluster, or the sentinels. */
  readonly hosts: readonly [HostPort, ...HostPort[]];
  /** Of the master, for its sentinels. */
  readonly name: string | undefined;
  readonly database: number;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly tls: boolean;
  /** The URL without credentials, for messages. */
  readonly shown: string;
}

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
  const hosts = hostList.split(',').map((host) => parseHost(host, kind === 'sentinel' ? SENTINEL_PORT : REDIS_PORT));
  const [name, database = ''] = kind === 'sentinel' ? path.split('/', 2) : [undefined, path];
  if (hosts.length > HOSTS_MAX) throw wrong(`names more than ${HOSTS_MAX} hosts`);
  if (kind === 'server' && hosts.length > 1) throw wrong('names several hosts but is neither redis+cluster:// nor redis+sentinel://');
  if (kind === 'cluster' && path !== '') throw wrong('names a database, which a cluster does not have');
  if (name !== undefined && !/^[A-Za-z0-9._-]+$/.test(name)) throw wrong('lacks the NAME of the master that the sentinels watch');
  if (kind === 'sentinel' && tls) throw wrong('asks for TLS with sentinels, which is not supported');
  if (!/^\d{0,5}$/.test(database)) throw wrong('has a database that is not a number');
  return {
    kind: kind as RedisTarget['kind'],
    hosts: hosts as [HostPort, ...HostPort[]],
    name,
    database: Number(database),
    ...parseUserInfo(userInfo),
    tls,
    shown: `${scheme}${kind === 'server' ? '' : `+${kind}`}://${hostList}${path === '' ? '' : `/${path}`}`,
  };
}

function parseHost(text: string, defaultPort: number): HostPort {
  const [, address, name, digits = defaultPort] = HOST_PATTERN.exec(text) ?? [];
  const [host, port] = [address ?? name, Number(digits)];
  if (host === undefined || port < 1 || port > 65_535) throw wrong('has an invalid host or port');
  return { host, port };
}

function parseUserInfo(userInfo: string | undefined): Pick<RedisTarget, 'username' | 'password'> {
  if (userInfo === undefined) return { username: undefined, password: undefined };
  const colon = userInfo.indexOf(':');
  if (colon === -1) throw wrong('has a user but no password (a password alone is written :PASSWORD@)');
  try {
    const username = decodeURIComponent(userInfo.slice(0, colon));
    return { username: username === '' ? undefined : username, password: decodeURIComponent(userInfo.slice(colon + 1)) };
  } catch {
    throw wrong('has credentials that are not correctly percent-encoded');
  }
}

function wrong(what: string): StoreError {
  return new StoreError(`the store's URL ${what}: ${EXPECTED}`);
}
