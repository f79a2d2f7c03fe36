// The framing guard against an oracle written from RFC 9110 and 9112: they agree on every head, and on the announced length.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HeaderFields } from '../../../src/server/messages.ts';

type Field = readonly [name: string, value: string];
type Reading = 'refused' | { readonly bytes: number; readonly chunked: boolean; readonly closes: boolean };

const DIGITS = '0123456789';
const HOST_CHARACTERS = `${DIGITS}abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-.~%!$&'()*+;=`;
const all = (text: string, alphabet: string): boolean => Array.from(text).every((c) => alphabet.includes(c));

function oracle(fields: readonly Field[], method: string, http10: boolean): Reading {
  const valuesOf = (name: string): string[] => fields.filter(([other]) => other === name).map(([, value]) => value);
  const [hosts, lengths, codings] = [valuesOf('host'), valuesOf('content-length'), valuesOf('transfer-encoding')];
  if (hosts.length > 1 || (hosts.length === 0 && !http10) || hosts.some((host) => !isHost(host))) return 'refused';
  const closes = valuesOf('connection').some((value) => value.split(/[\s,]/).some((token) => token.toLowerCase() === 'close'));
  if (codings.length > 0) {
    const only = codings.length === 1 && lengths.length === 0 && /^[A-Za-z]+$/.test(codings[0]!) && codings[0]!.toLowerCase() === 'chunked';
    // Nothing may follow a chunked body on this connection.
    return only && !http10 ? { bytes: 0, chunked: true, closes: true } : 'refused';
  }
  if (lengths.length === 0) {
    if (method === 'POST') return 'refused';
    return { bytes: 0, chunked: false, closes: closes || method === 'PUT' || method === 'PATCH' };
  }
  const [length = ''] = lengths;
  if (lengths.length > 1 || length === '' || length.length > 15 || !all(length, DIGITS)) return 'refused';
  return { bytes: Number(length), chunked: false, closes };
}

function isHost(value: string): boolean {
  if (value.startsWith('[')) {
    const end = value.indexOf(']');
    return end > 1 && all(value.slice(1, end), `${DIGITS}abcdefABCDEF:.`) && isPort(value.slice(end + 1));
  }
  const colon = value.indexOf(':');
  const host = colon === -1 ? value : value.slice(0, colon);
  return host !== '' && all(host, HOST_CHARACTERS) && isPort(colon === -1 ? '' : value.slice(colon));
}

function isPort(text: string): boolean {
  return text === '' || (text.startsWith(':') && text.length <= 6 && all(text.slice(1), DIGITS));
}

/** Line ends, blanks, look-alikes beyond ASCII, and separators. */
const TROUBLE = Array.from(' \t\n\r\0\u00a0\u2028\u212a\u0131éſ٣１-_:/.,@?#+%[]0189afgAFGzZ');
const edits = fc.array(
  fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), length: fc.nat(1), put: fc.constantFrom('', ...TROUBLE) }),
  { maxLength: 3 },
);

/** Good texts with up to three characters inserted, removed or replaced, which random text would never come close to. */
function nearMisses(good: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const edited = fc.tuple(good, edits).map(([text, several]) =>
    several.reduce((rest, { at, length, put }) => {
      const place = Math.floor(at * rest.length);
      return rest.slice(0, place) + put + rest.slice(place + length);
    }, text),
  );
  return fc.oneof({ weight: 9, arbitrary: edited }, { weight: 1, arbitrary: fc.string() });
}

const host = nearMisses(
  fc.oneof(
    fc.domain(),
    fc.ipV4(),
    fc.ipV6().map((address) => `[${address}]`),
    fc.constant('a:80'),
  ),
);
const length = nearMisses(fc.oneof(fc.nat().map(String), fc.constantFrom('0', '00', '999999999999999', '1e3', '0x1')));
const coding = nearMisses(fc.constantFrom('chunked', 'Chunked', 'CHUNKED', 'gzip, chunked', 'identity', ''));
const connection = nearMisses(fc.constantFrom('close', 'keep-alive', 'Close, te', 'te, close', 'upgrade', 'closed'));

const field: fc.Arbitrary<Field> = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.constant('host'), host) },
  { weight: 3, arbitrary: fc.tuple(fc.constant('content-length'), length) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('transfer-encoding'), coding) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('connection'), connection) },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.constantFrom('hosts', 'content_length', 'x-transfer-enc', 'te', '__proto__', 'connections'), fc.string()),
  },
);
/** Many heads have one good Host, or all would be refused for it. */
const fields = fc
  .tuple(fc.boolean(), fc.array(field, { maxLength: 5 }))
  .map(([good, rest]) => (good ? [['host', 'a'] as const, ...rest] : rest));

test('both parse every head alike, including one that follows another', () => {
  const guard = new HeaderFields(new Set());
  fc.assert(
    fc.property(fields, fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'post'), fc.boolean(), (head, method, http10) => {
      // Never a new guard: anything left over from the previous head would show.
      guard.start();
      for (const [name, value] of head) guard.field(name, value);
      const fault = guard.judge(method, http10);
      const { bodyBytes, chunked, closes } = guard;
      expect(fault === undefined ? { bytes: bodyBytes, chunked, closes } : 'refused').toEqual(oracle(head, method, http10));
    }),
    { numRuns: 8000 },
  );
});
