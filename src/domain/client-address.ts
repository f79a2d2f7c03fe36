// The client address of a request behind trusted proxies: only what they say is believed.
import { BlockList, isIP, SocketAddress } from 'node:net';
import { REMOTE_ADDRESS } from '../core/exchange.ts';
import type { Exchange } from '../core/exchange.ts';

type Headers = Readonly<Record<string, string>>;

/** The field that the proxies in front write. They pass the other one on as the caller sent it, so it is never believed. */
export type AddressField = 'x-forwarded-for' | 'forwarded';

export interface ClientAddressReader {
  /** What `read` needs of a request. */
  readonly headers: readonly string[];
  /** What `of` needs. */
  readonly fields: readonly string[];
  /** An IP address in its shortest form, empty where there is none. */
  read(headers: Headers): string;
  /** The same while the request is not answered yet: the connection is asked only now, so that other requests pay nothing for it. */
  of(x: Exchange): string;
}

/** `trusted` are IP addresses and CIDR ranges. */
export function clientAddressReader(trusted: readonly string[], field: AddressField): ClientAddressReader {
  const proxies = blockListOf(trusted);
  const isTrusted = (address: string): boolean => proxies.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  const addressesIn = field === 'forwarded' ? addressesInForwarded : addressesInXForwardedFor;
  const clientOf = (headers: Headers, remoteAddress: string): string => {
    let client = normalised(remoteAddress) ?? '';
    if (client === '' || !isTrusted(client)) return client;
    // The last one was written by the proxy that is nearest to us.
    for (const text of addressesIn(headers[field] ?? '').toReversed()) {
      const address = normalised(text);
      // Not an address: nothing that is said of what lies before it can be trusted.
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
  };
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

/** The addresses as written, without ports and brackets. A repeated field is joined by commas, in its order. */
function addressesInXForwardedFor(value: string): string[] {
  return value
    .split(',')
    .filter((part) => part.trim() !== '')
    .map(bare);
}

/** Likewise, of `Forwarded` (RFC 7239). An element that does not say for whom it is hides what lies before it. */
function addressesInForwarded(value: string): string[] {
  const elements = splitUnquoted(value, ',');
  // A quote that the caller left open takes in what the proxies have added: then nothing can be believed.
  if (elements === undefined) return [''];
  return elements.filter((element) => element.trim() !== '').map(forOf);
}

/** Empty where there is none, or more than one. */
function forOf(element: string): string {
  const found = splitUnquoted(element, ';')!.flatMap((pair) => /^\s*for\s*=(.*)$/is.exec(pair)?.[1] ?? []);
  return found.length === 1 ? bare(found[0]!) : '';
}

/** Splits at the marks outside quotes, in one pass; `undefined` when a quote is left open. */
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

/** `"[2001:db8::1]:4711"`, `192.0.2.1:80`, `2001:db8::1`: the address alone. */
function bare(text: string): string {
  const value = text.trim().replace(/^"(.*)"$/, '$1');
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(value);
  return bracketed?.[1] ?? value.replace(/^(\d+(?:\.\d+){3}):\d+$/, '$1');
}

const GROUPS = 8;
const NETWORK_GROUPS = 4;

/** What is counted as one caller: an IPv4 address, and of IPv6 the /64, whose addresses one machine may change as it likes. */
export function callerNetwork(address: string): string {
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('::');
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    // What is written as an IPv4 address stands for two groups.
    const behind = tail.replace(/[\d.]*\.[\d.]*$/, '0:0').split(':');
    while (groups.length + behind.length < GROUPS) groups.push('0');
    groups.push(...behind);
  }
  return `${groups.slice(0, NETWORK_GROUPS).join(':')}::/64`;
}

/** The address in its shortest form, an IPv4 address within IPv6 as IPv4; `undefined` for what is no address. */
function normalised(text: string): string | undefined {
  const version = isIP(text);
  if (version !== 6) return version === 4 ? text : undefined;
  if (text.includes('%')) return undefined;
  const { address } = new SocketAddress({ address: text, family: 'ipv6' });
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}
