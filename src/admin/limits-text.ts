// Limits of a key or a tag as one short text.
import type { WindowLimit } from '../domain/window-limits.ts';
import { COUNTED } from '../domain/window-limits.ts';

interface Limits {
  readonly expires_at?: string | undefined;
  readonly requests_per_second?: number | undefined;
  readonly characters?: number | undefined;
  readonly allowed_addresses?: readonly string[] | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly limits?: readonly WindowLimit[] | undefined;
}

/** `until 2027-01-31T18:00:00Z, 5/s, 100000 characters, from 10.0.0.0/8, only usage:read`; `undefined` if there are none. */
export function limitsText(limits: Limits): string | undefined {
  const { expires_at: until, requests_per_second: rate, characters, allowed_addresses: from, scopes, limits: windows = [] } = limits;
  const parts = [
    until === undefined ? [] : `until ${until}`,
    rate === undefined ? [] : `${rate}/s`,
    characters === undefined ? [] : `${characters} characters`,
    windows.flatMap((one) => COUNTED.flatMap((counts) => (one[counts] === undefined ? [] : `${one[counts]} ${counts}/${one.per}`))),
    from === undefined ? [] : `from ${from.join(' ')}`,
    scopes === undefined ? [] : `only ${scopes.join(' ')}`,
  ].flat();
  return parts.length === 0 ? undefined : parts.join(', ');
}
