// The address of a client: each trusted proxy is believed in turn, and nothing else is.
import { describe, expect, test } from 'vitest';
import { REMOTE_ADDRESS } from '../../../src/core/exchange.ts';
import type { Exchange } from '../../../src/core/exchange.ts';
import { callerNetwork, clientAddressReader } from '../../../src/domain/client-address.ts';

const TRUSTED = ['10.0.0.0/8', '192.0.2.7', '2001:db8::/32'];
const appended = clientAddressReader(TRUSTED, 'x-forwarded-for');
const standard = clientAddressReader(TRUSTED, 'forwarded');
type Fields = Readonly<Record<string, string>>;
/** With both functions. */
function client(remote: string, headers: Fields = {}): string {
  const read = appended.read({ [REMOTE_ADDRESS]: remote, ...headers });
  expect(appended.of({ head: { headers }, sink: { remoteAddress: () => remote } } as unknown as Exchange)).toBe(read);
  return read;
}

describe('the address of a client', () => {
  test.each<[string, string, Record<string, string>, string]>([
    ['is the connection’s own if that is not a trusted proxy', '198.51.100.4', { 'x-forwarded-for': '1.2.3.4' }, '198.51.100.4'],
    ['is the proxy’s if it sends no header', '10.1.2.3', {}, '10.1.2.3'],
    ['is the one sent by a trusted proxy', '10.1.2.3', { 'x-forwarded-for': '198.51.100.4' }, '198.51.100.4'],
    ['is not what the client itself sent', '10.1.2.3', { 'x-forwarded-for': '1.1.1.1, 198.51.100.4' }, '198.51.100.4'],
    ['is found behind several trusted proxies', '10.1.2.3', { 'x-forwarded-for': '198.51.100.4, 192.0.2.7,10.9.9.9' }, '198.51.100.4'],
    ['is the farthest if all are trusted', '10.1.2.3', { 'x-forwarded-for': '10.0.0.1, 10.0.0.2' }, '10.0.0.1'],
    ['is the last before an invalid one', '10.1.2.3', { 'x-forwarded-for': '198.51.100.4, unknown, 10.0.0.2' }, '10.0.0.2'],
    ['may have a port', '10.1.2.3', { 'x-forwarded-for': '198.51.100.4:4711' }, '198.51.100.4'],
    ['may be IPv6 with a port', '10.1.2.3', { 'x-forwarded-for': '[2001:4860::1]:4711' }, '2001:4860::1'],
    ['is not taken from Forwarded', '10.1.2.3', { forwarded: 'for=1.1.1.1', 'x-forwarded-for': '198.51.100.4' }, '198.51.100.4'],
    ['is the proxy’s if there is only Forwarded', '10.1.2.3', { forwarded: 'for=1.1.1.1' }, '10.1.2.3'],
    ['is in its shortest form', '2001:0db8:0000:0000:0000:0000:0000:0001', { 'x-forwarded-for': '2001:4860:0:0::0001' }, '2001:4860::1'],
    [
      'is IPv4 if it was sent as IPv6',
      '0000:0000:0000:0000:0000:ffff:0a01:0203',
      { 'x-forwarded-for': '::ffff:198.51.100.4' },
      '198.51.100.4',
    ],
    ['is without the zone that Node appends for a peer on the same link', 'fe80::1%eth0', {}, 'fe80::1'],
    [
      'is the last before an address with a zone, which is only valid locally',
      '10.1.2.3',
      { 'x-forwarded-for': 'fe80::1%eth0' },
      '10.1.2.3',
    ],
    ['is empty if the connection is gone', '', { 'x-forwarded-for': '198.51.100.4' }, ''],
    ['is never anything but an address', '10.1.2.3', { 'x-forwarded-for': '"},{"code":"ok' }, '10.1.2.3'],
  ])('%s', (_what, remote, headers, expected) => {
    expect(client(remote, headers)).toBe(expected);
  });
});

describe('the address of a client behind proxies that write Forwarded', () => {
  test.each<[string, Fields, string]>([
    ['is the one sent by the nearest', { forwarded: 'for=198.51.100.9;proto=https' }, '198.51.100.9'],
    ['is not taken from X-Forwarded-For', { forwarded: 'for=198.51.100.9', 'x-forwarded-for': '1.1.1.1' }, '198.51.100.9'],
    ['is the proxy’s if there is only X-Forwarded-For', { 'x-forwarded-for': '1.1.1.1' }, '10.1.2.3'],
    ['is not what the client itself sent', { forwarded: 'for=1.1.1.1, for=198.51.100.9, for=10.0.0.2' }, '198.51.100.9'],
    ['may be IPv6', { forwarded: 'by=x; For="[2001:4860::1]:80"' }, '2001:4860::1'],
    ['is hidden by an obfuscated name', { forwarded: 'for=_secret' }, '10.1.2.3'],
    ['is hidden by an obfuscated name with a port', { forwarded: 'for=1.1.1.1, for="_gazonk:_x"' }, '10.1.2.3'],
    ['is hidden if the nearest does not send it', { forwarded: 'for=1.1.1.1, proto=https' }, '10.1.2.3'],
    ['is hidden if the nearest sends two', { forwarded: 'for=1.1.1.1;for=2.2.2.2' }, '10.1.2.3'],
    ['is not taken from another parameter', { forwarded: 'host="a;for=1.1.1.1;b";for=198.51.100.9' }, '198.51.100.9'],
    ['cannot be forged with an open quote', { forwarded: 'for=1.1.1.1;x=", for=198.51.100.9' }, '10.1.2.3'],
    ['cannot be forged with a quote that the proxy’s own closes', { forwarded: 'for=1.1.1.1;x=", for="[2001:4860::1]"' }, '10.1.2.3'],
    ['cannot be forged with an escaped quote', { forwarded: 'for=1.1.1.1;x="\\", for="[2001:4860::1]"' }, '10.1.2.3'],
  ])('%s', (_what, headers, expected) => {
    expect(standard.read({ [REMOTE_ADDRESS]: '10.1.2.3', ...headers })).toBe(expected);
  });

  test('reads only its own header', () => {
    expect(appended.headers).toEqual([REMOTE_ADDRESS, 'x-forwarded-for']);
    expect(standard.headers).toEqual([REMOTE_ADDRESS, 'forwarded']);
    expect(clientAddressReader([], 'forwarded').headers).toEqual([REMOTE_ADDRESS]);
  });
});

test.each([
  ['192.0.2.1', '192.0.2.1', '192.0.2.2'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::', '2001:db8:1:3:3:4:5:6'],
  ['2001:db8::1', '2001:db8:0:0:ffff::', '2001:db8:0:1::1'],
  ['::1', '::', '0:0:0:1::1'],
  ['::1:2:3:4:5:6', '0:0:1:2::', '::1:2:3:4:5'],
  ['64:ff9b::192.0.2.1', '64:ff9b::192.0.2.2', '64:ff9b:0:1::192.0.2.1'],
  ['::1:2:3:4:192.0.2.1', '0:0:1:2::', '::1:2:3:192.0.2.1'],
  ['', '', '::'],
])('%j is the same caller as %j, and another than %j', (address, same, other) => {
  expect(callerNetwork(address)).toBe(callerNetwork(same));
  expect(callerNetwork(address)).not.toBe(callerNetwork(other));
});

test.each<[string, Fields, boolean, typeof appended]>([
  ['10.1.2.3', { 'x-forwarded-proto': 'https' }, true, appended],
  ['10.1.2.3', { 'x-forwarded-proto': 'http, HTTPS ' }, true, appended],
  ['10.1.2.3', { 'x-forwarded-proto': 'https, http' }, false, appended],
  ['10.1.2.3', { forwarded: 'proto=https' }, false, appended],
  ['198.51.100.4', { 'x-forwarded-proto': 'https' }, false, appended],
  ['', { 'x-forwarded-proto': 'https' }, false, appended],
  ['10.1.2.3', {}, false, appended],
  ['10.1.2.3', { forwarded: 'proto=http, for=1.2.3.4; Proto="https"' }, true, standard],
  ['10.1.2.3', { forwarded: 'proto=https, for=1.2.3.4' }, false, standard],
  ['10.1.2.3', { forwarded: 'proto="https' }, false, standard],
  ['10.1.2.3', { 'x-forwarded-proto': 'https' }, false, standard],
])('a connection from %s with %j says TLS: %j', (remote, headers, expected, reader) => {
  expect(reader.saysTls({ head: { headers }, sink: { remoteAddress: () => remote } } as unknown as Exchange)).toBe(expected);
});
