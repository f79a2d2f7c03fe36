// Asks what listens on an address of the configuration: a running gateway, through its admin API,
// for what only its processes know; or another program, which would keep one from starting.
import { once } from 'node:events';
import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { reachedAt } from '../config/network-address.ts';
import type { NetworkAddress } from '../config/network-address.ts';
import type { Config } from '../config/config.ts';
import { CommandFailure } from './command.ts';
import type { CommandContext, Flags } from './command.ts';

/** Its token comes from the configuration, or from this variable if that has none. */
const TOKEN_VARIABLE = 'LINGATE_ADMIN_TOKEN';

export const GATEWAY_FLAGS: Flags = {
  ops: {
    value: 'HOST:PORT',
    summary: "the running gateway's ops listener",
    fallback: 'LINGATE_OPS, then the file',
  },
};

const ANSWER_MS_MAX = 10_000;

/**
 * The running gateway's JSON for a path below `/admin/v1`. Rejects with a `CommandFailure` that
 * says what to do, and with a `ConfigError` for an unreadable token.
 */
export async function askGateway({ io }: CommandContext, config: Config, path: string): Promise<unknown> {
  // Imported here: help needs none of the YAML parser.
  const { secretsOf, sourcesOf } = await import('../config/secrets.ts');
  // Every role may read.
  const admin = config.admin && { ...config.admin, oidc: undefined };
  const [operator] = secretsOf({ admin }, sourcesOf(config, io.env)).operators ?? [];
  const token = operator?.token ?? io.env[TOKEN_VARIABLE] ?? '';
  if (token === '') {
    throw new CommandFailure(
      `a running gateway is asked through its admin API, with an admin token, and the configuration has none: name its configuration by --config, or set ${TOKEN_VARIABLE} to its token (the demo prints one); a gateway without admin.token has the same in its log, in the lines "msg":"request"`,
    );
  }
  const gateway = urlOf(config.ops, false);
  const answer = await answerOf(`${gateway}/admin/v1${path}`, token).catch((error: NodeJS.ErrnoException) => {
    throw new CommandFailure(
      `no gateway answers at ${gateway} (${error.code ?? error.name}): start it, or name its ops listener by --ops, LINGATE_OPS or --config`,
    );
  });
  if (answer.status === 200) return JSON.parse(answer.body) as unknown;
  throw new CommandFailure(`the gateway at ${gateway} ${REFUSALS[answer.status] ?? `answered ${answer.status}; its log says why`}`);
}

/** Where this machine reaches what listens on the address. */
export function urlOf(address: NetworkAddress, secure: boolean): string {
  return `${secure ? 'https' : 'http'}://${reachedAt(address)}`;
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Not by `fetch`, which refuses some ports. */
export async function answerOf(url: string, token?: string): Promise<Answer> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const request = get(url, { headers, signal: AbortSignal.timeout(ANSWER_MS_MAX), agent: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, body: await text(response) };
}

export const OTHER_NAME = 'does not answer to this name: add it to ops_names, or use an address';

const REFUSALS: Readonly<Record<number, string>> = {
  401: `does not know this admin token: use the configuration and the environment that it runs with, or set ${TOKEN_VARIABLE} where the configuration has no token`,
  404: 'has no admin API: it runs with another configuration, or is another program',
  421: OTHER_NAME,
  429: 'has had too many wrong tokens: wait a minute',
};

const LOOK_MS_MAX = 1000;

/** Whether another program listens there: `isGateway` judges its answer to one GET. */
export async function isTaken(
  address: NetworkAddress,
  { path, secure }: { readonly path: string; readonly secure: boolean },
  isGateway: (answer: IncomingMessage) => boolean,
): Promise<boolean> {
  // Port 0 is any free one.
  if (address.port === 0) return false;
  const options = { agent: false, signal: AbortSignal.timeout(LOOK_MS_MAX), rejectUnauthorized: false } as const;
  const url = `${urlOf(address, secure)}${path}`;
  try {
    const { get: ask } = await (secure ? import('node:https') : import('node:http'));
    const [answer] = (await once(ask(url, options), 'response')) as [IncomingMessage];
    answer.destroy();
    return !isGateway(answer);
  } catch (error) {
    // Whoever accepts a connection and does not speak HTTP is another program too.
    return !UNREACHED.includes((error as NodeJS.ErrnoException).code ?? '');
  }
}

/** Nobody listens there, or the address is not one of this machine. */
const UNREACHED: readonly string[] = [
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ABORT_ERR',
];
