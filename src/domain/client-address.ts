// The client address of a request behind trusted proxies: only what these report counts.
import { BlockList, isIP, SocketAddress } from 'node:net';
import { REMOTE_ADDRESS } from '../core/exchange.ts';
import type { Exchange } from '../core/exchange.ts';
import { addressBits } from './key-limits.ts';

type Headers = Readonly<Record<string, string>>;

/** The field that the proxies set. The other comes from the caller, so it is never trusted. */
type AddressField = 'x-forwarded-for' | 'forwarded';

export interface ClientAddressReader {
  /** The request fields that `read` needs. */
  readonly headers: readonly string[];
  /** The request fields that `of` needs. */
  readonly fields: readonly string[];
  /** An IP address in its shortest form, or empty if there is none. */
  read(headers: Headers): string;
  /** Before the request is answered. Queries the connection only when called, which has a cost. */
  of(x: Exchange): string;
  /** Whether a trusted proxy says that its caller used TLS, in its field. */
  saysTls(x: Exchange): boolean;
}

/** `trusted` are IP addresses and CIDR ranges. */
export function clientAddressReader(trusted: readonly string[], field: AddressField): ClientAddressReader {
  const proxies = blockListOf(trusted);
  const isTrusted = (address: string): boolean => proxies.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  const addressesIn = field === 'forwarded' ? addressesInForwarded : addressesInXForwardedFor;
  const clientOf = (headers: Headers, remoteAddress: string): string => {
    let client = peerOf(remoteAddress);
    if (client === '' || !isTrusted(client)) return client;
    // The last address was added by the proxy closest to us.
    for (const text of addressesIn(headers[field] ?? '').toReversed()) {
      const address = normalised(text);
      // Not an address: nothing before it can be trusted.
      if (address === undefined) return client;
      client = address;
      if (!isTrusted(client)) return client;
    }
    return client;
  };
  const fields = trusted.length === 0 ? [] : [field];
  return {
    headers: [REMOTE_ADDRESS, ...fields],
    fields,
    read: (headers) => clientOf(headers, headers[REMOTE_ADDRESS] ?? ''),
    of: (x) => clientOf(x.head.headers, x.sink.remoteAddress()),
    saysTls({ head: { headers }, sink }) {
      const peer = peerOf(sink.remoteAddress());
      if (peer === '' || !isTrusted(peer)) return false;
      const last =
        field === 'forwarded'
          ? splitUnquoted(headers['forwarded'] ?? '', ',')?.at(-1)
          : `proto=${headers['x-forwarded-proto']?.split(',').at(-1)}`;
      return (
        valuesOf('proto', last ?? '')
          .map(bare)
          .join()
          .toLowerCase() === 'https'
      );
    },
  };
}

/** Empty if unknown. Node appends a zone to link-local peers, uWebSockets.js does not. */
function peerOf(remoteAddress: string): string {
  return normalised(remoteAddress.split('%', 1)[0]!) ?? '';
}

function blockListOf(trusted: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of trusted) {
    const [address = '', prefix] = entry.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

/** The addresses as written, in order, without ports and brackets. */
function addressesInXForwardedFor(value: string): string[] {
  return value
    .split(',')
    .filter((part) => part.trim() !== '')
    .map(bare);
}

/** The same for `Forwarded` (RFC 7239). An element without a `for` hides everything before it. */
function addressesInForwarded(value: string): string[] {
  const elements = splitUnquoted(value, ',');
  // A quote left open by the caller swallows what the proxies appended, so nothing can be trusted.
  if (elements === undefined) return [''];
  return elements.filter((element) => element.trim() !== '').map(forOf);
}

/** Empty if there is none, or more than one. */
function forOf(element: string): string {
  const found = valuesOf('for', element);
  return found.length === 1 ? bare(found[0]!) : '';
}

function valuesOf(name: 'for' | 'proto', element: string): string[] {
  return splitUnquoted(element, ';')!.flatMap((pair) => new RegExp(`^\\s*${name}\\s*=(.*)$`, 'is').exec(pair)?.[1] ?? []);
}

/** Splits at separators outside quotes, in one pass; `undefined` if a quote is left open. */
function splitUnquoted(value: string, mark: ',' | ';'): string[] | undefined {
  const parts: string[] = [];
  let from = 0;
  let quoted = false;
  for (let at = 0; at < value.length; at++) {
    const char = value[at];
    if (char === '"') quoted = !quoted;
    else if (char === '\\' && quoted) at++;
    else if (char === mark && !quoted) {
      parts.push(value.slice(from, at));
      from = at + 1;
    }
  }
  parts.push(value.slice(from));
  return quoted ? undefined : parts;
}

/** Strips quotes, brackets and port, as in `"[2001:db8::1]:4711"` or `192.0.2.1:80`. */
function bare(text: string): string {
  const value = text.trim().replace(/^"(.*)"$/, '$1');
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(value);
  return bracketed?.[1] ?? value.replace(/^(\d+(?:\.\d+){3}):\d+$/, '$1');
}

const NETWORK_LENGTH = '6.'.length + 64;

/** One caller: an IPv4 address, or the bits of an IPv6 /64, in which a machine can change its address. */
export function callerNetwork(address: string): string {
  return address.includes(':') ? addressBits(address).slice(0, NETWORK_LENGTH) || address : address;
}

/** In its shortest form, with IPv4-mapped IPv6 as IPv4; `undefined` if it is no address. */
function normalised(text: string): string | undefined {
  const version = isIP(text);
  if (version !== 6) return version === 4 ? text : undefined;
  if (text.includes('%')) return undefined;
  const { address } = new SocketAddress({ address: text, family: 'ipv6' });
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}
