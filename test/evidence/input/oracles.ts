// What the parsers should return, derived independently: character by character from the rules, without the product's patterns.

const DIGITS = '0123456789';
const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
const LOWER_HEX = `${DIGITS}abcdef`;
/** Crockford's alphabet, without I, L, O and U. */
const ULID_LETTERS = `${DIGITS}ABCDEFGHJKMNPQRSTVWXYZ`;

const all = (text: string, alphabet: string): boolean => Array.from(text).every((c) => alphabet.includes(c));

/** Interface, Authentication, rule 5. */
export function isKey(text: string): boolean {
  const begins = text.startsWith('la_live_') || text.startsWith('la_test_');
  return begins && text.length === 48 && all(text.slice(8), LETTERS + DIGITS);
}

/** The key that a value of `Authorization` carries. */
export function keyInAuthorization(value: string, vendorNames: readonly string[]): string | undefined {
  const schemes = ['Bearer', ...vendorNames];
  const scheme = schemes.find((name) => equalInAscii(value.slice(0, name.length), name) && value[name.length] === ' ');
  if (scheme === undefined) return undefined;
  let rest = value.slice(scheme.length);
  while (rest.startsWith(' ')) rest = rest.slice(1);
  return isKey(rest) ? rest : undefined;
}

function equalInAscii(a: string, b: string): boolean {
  return (
    a.length === b.length && Array.from(a).every((c, i) => c === b[i] || (LETTERS.includes(c) && c.toLowerCase() === b[i]?.toLowerCase()))
  );
}

export function ulidOf(text: string): string | undefined {
  let upper = '';
  for (const c of Array.from(text)) upper += LETTERS.includes(c) ? c.toUpperCase() : c;
  return upper.length === 26 && all(upper, ULID_LETTERS) && upper[0]! <= '7' ? upper : undefined;
}

/** W3C Trace Context, sections 3.2 and 4: the trace and the flags of version 00 that a value carries, of any version. */
export function traceOf(text: string): { trace: string; flags: number } | undefined {
  const [version = '', trace = '', parent = '', flags = ''] = text.slice(0, 55).split('-');
  const sizes = version.length === 2 && trace.length === 32 && parent.length === 16 && flags.length === 2;
  const hex = [version, trace, parent, flags].every((part) => all(part, LOWER_HEX));
  // Only a later version may have more, and only after a dash.
  const end = text.length === 55 || (version !== '00' && text[55] === '-');
  if (!sizes || !hex || !end || version === 'ff' || all(trace, '0') || all(parent, '0')) return undefined;
  return { trace, flags: LOWER_HEX.indexOf(flags[1]!) % 4 };
}

/** ISO 8601: whole units, each at most once and in this order, as many digits as the product allows. */
export function durationOf(text: string): { months: number; days: number; seconds: number } | undefined {
  if (!text.startsWith('P')) return undefined;
  const [date = '', time, ...more] = text.slice(1).split('T');
  if (more.length > 0 || time === '') return undefined;
  const days = unitsOf(date, { Y: 4, M: 4, W: 4, D: 5 });
  const clock = unitsOf(time ?? '', { H: 6, M: 7, S: 9 });
  if (days === undefined || clock === undefined) return undefined;
  const duration = {
    months: (days['Y'] ?? 0) * 12 + (days['M'] ?? 0),
    days: (days['W'] ?? 0) * 7 + (days['D'] ?? 0),
    seconds: (clock['H'] ?? 0) * 3600 + (clock['M'] ?? 0) * 60 + (clock['S'] ?? 0),
  };
  return Object.values(duration).some((n) => n > 0) ? duration : undefined;
}

function unitsOf(text: string, digitsMax: Readonly<Record<string, number>>): Record<string, number> | undefined {
  const order = Object.keys(digitsMax);
  const units: Record<string, number> = {};
  let digits = '';
  let next = 0;
  for (const c of Array.from(text)) {
    if (DIGITS.includes(c)) {
      digits += c;
      continue;
    }
    const place = order.indexOf(c, next);
    if (place === -1 || digits === '' || digits.length > digitsMax[c]!) return undefined;
    units[c] = Number(digits);
    digits = '';
    next = place + 1;
  }
  return digits === '' ? units : undefined;
}

/** `HOST:PORT`; IPv6 in brackets is checked by the caller. */
export function nameAndPort(text: string): { host: string; port: number } | undefined {
  const colon = text.lastIndexOf(':');
  const host = text.slice(0, colon);
  const digits = text.slice(colon + 1);
  if (colon < 1 || host.length > 253 || !all(host, `${LETTERS + DIGITS}._-`) || '._-'.includes(host[0]!)) return undefined;
  if (digits === '' || digits.length > 5 || !all(digits, DIGITS) || Number(digits) > 65_535) return undefined;
  return { host, port: Number(digits) };
}

/** RFC 3629: how many bytes a lead byte announces, and which code points are valid. */
export function isStrictUtf8(bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length;) {
    const lead = bytes[at]!;
    const size = lead < 0x80 ? 1 : lead >> 5 === 6 ? 2 : lead >> 4 === 14 ? 3 : lead >> 3 === 30 ? 4 : 0;
    if (size === 0 || at + size > bytes.length) return false;
    let point = size === 1 ? lead : lead & (0xff >> (size + 1));
    for (let i = 1; i < size; i++) {
      const byte = bytes[at + i]!;
      if (byte >> 6 !== 2) return false;
      point = point * 64 + (byte & 63);
    }
    const smallest = [0, 0, 0x80, 0x800, 0x1_0000][size]!;
    if (point < smallest || point > 0x10_ffff || (point >= 0xd800 && point <= 0xdfff)) return false;
    at += size;
  }
  return true;
}
