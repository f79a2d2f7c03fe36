// Parses addresses to listen on and address ranges to trust.
import { isIP, isIPv6 } from 'node:net';

export interface NetworkAddress {
  /** A name or an address; IPv6 without brackets. */
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
}

const HOST_AND_PORT = /^(?:\[([0-9A-Fa-f:.]{2,45})\]|([A-Za-z0-9](?:[A-Za-z0-9._-]{0,252}))):(\d{1,5})$/;
const PORT_MAX = 65_535;

/** Parses `HOST:PORT` or `[IPV6]:PORT`; `undefined` if it is neither. */
export function parseNetworkAddress(text: string): NetworkAddress | undefined {
  const match = HOST_AND_PORT.exec(text);
  if (match === null) return undefined;
  const [, ipv6, name, digits] = match;
  const port = Number(digits);
  if (port > PORT_MAX || (ipv6 !== undefined && !isIPv6(ipv6))) return undefined;
  return { host: ipv6 ?? name!, port };
}

/** The address as written in a URL. */
export function formatNetworkAddress({ host, port }: NetworkAddress): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Addresses that mean every interface of this machine, and how it reaches itself. */
const EVERY_INTERFACE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** `HOST:PORT` at which this machine reaches what listens on the address. */
export function reachedAt({ host, port }: NetworkAddress): string {
  return formatNetworkAddress({ host: EVERY_INTERFACE[host] ?? host, port });
}

/** Whether only this machine can connect to the address. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^(?:::ffff:)?127(?:\.\d{1,3}){3}$/i.test(host);
}

/** Whether the text is an IP address or a CIDR range: `10.0.0.0/8`, `::1`. */
export function isAddressOrRange(text: string): boolean {
  const [address = '', prefix, ...more] = text.split('/');
  const version = isIP(address);
  // A zone names an interface of this machine; addresses of peers have none.
  if (version === 0 || more.length > 0 || address.includes('%')) return false;
  if (prefix === undefined) return true;
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128);
}
