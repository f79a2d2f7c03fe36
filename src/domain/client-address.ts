// The client address of a request behind trusted proxies: only what they say is believed.
import { BlockList, isIP, SocketAddress } from 'node:net';
import { REMOTE_ADDRESS } from '../core/exchange.ts';

type Headers = Readonly<Record<string, string>>;

/** What is read of a request. */
export const CLIENT_ADDRESS_HEADERS = [REMOTE_ADDRESS, 'forwarded', 'x-forwarded-for'] as const;

/** `trusted` are IP addresses and CIDR ranges. The answer is an IP address in its shortest form, empty where there is none. */
export function clientAddressReader(trusted: readonly string[]): (headers: Headers) => string {
  const proxies = blockListOf(trusted);
  const isTrusted = (address: string): boolean => proxies.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  return (headers) => {
    let client = normalised(headers[REMOTE_ADDRESS] ?? '') ?? '';
    if (client === '' || !isTrusted(client)) return client;
    // The last one was written by the proxy that is nearest to us.
    for (const text of forwardedFor(headers).toReversed()) {
      const address = normalised(text);
      // Not an address: nothing that is said of what lies before it can be trusted.
      if (address === undefined) return client;
      client = address;
      if (!isTrusted(client)) return client;
    }
    return client;
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

/** `Forwarded` (RFC 7239) where it is sent, else `X-Forwarded-For`: addresses as written, without ports and brackets. */
function forwardedFor(headers: Headers): string[] {
  const forwarded = headers['forwarded'];
  if (forwarded === undefined)
    return (headers['x-forwarded-for'] ?? '')
      .split(',')
      .filter((part) => part.trim() !== '')
      .map(bare);
  return forwarded.split(',').map((element) => bare(/(?:^|;)\s*for=("[^"]*"|[^;\s]*)/i.exec(element)?.[1] ?? ''));
}

/** `"[2001:db8::1]:4711"`, `192.0.2.1:80`, `2001:db8::1`: the address alone. */
function bare(text: string): string {
  const value = text.trim().replace(/^"(.*)"$/, '$1');
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(value);
  return bracketed?.[1] ?? value.replace(/^(\d+(?:\.\d+){3}):\d+$/, '$1');
}

/** The address in its shortest form, an IPv4 address within IPv6 as IPv4; `undefined` for what is no address. */
function normalised(text: string): string | undefined {
  const version = isIP(text);
  if (version !== 6) return version === 4 ? text : undefined;
  if (text.includes('%')) return undefined;
  const { address } = new SocketAddress({ address: text, family: 'ipv6' });
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}
