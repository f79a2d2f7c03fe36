// What listens on an address of the configuration: nothing, a gateway, or another program, which would keep one from starting.
import { once } from 'node:events';
import { get as getPlain } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { get as getSecure } from 'node:https';
import type { NetworkAddress } from '../config/network-address.ts';
import { urlOf } from './running-gateway.ts';

const ANSWER_MS_MAX = 1000;

/** `isGateway` judges the answer to a GET of the path. Nothing is sent but that. */
export async function isTaken(
  address: NetworkAddress,
  { path, secure }: { readonly path: string; readonly secure: boolean },
  isGateway: (answer: IncomingMessage) => boolean,
): Promise<boolean> {
  // Port 0 is any free one.
  if (address.port === 0) return false;
  const options = { agent: false, signal: AbortSignal.timeout(ANSWER_MS_MAX), rejectUnauthorized: false } as const;
  const url = `${urlOf(address, secure)}${path}`;
  try {
    const [answer] = (await once(secure ? getSecure(url, options) : getPlain(url, options), 'response')) as [IncomingMessage];
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
