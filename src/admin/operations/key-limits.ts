// The limits of a key as operators give and see them: a row for each. Another one is a row here and a
// member of `KeyLimits`, and what judges it in the ledgers.
import type { Static, TOptional, TSchema } from 'typebox';
import { ALLOWED_ADDRESSES_MAX, canonicalRange, CHARACTERS_MAX, RATE_MAX } from '../../domain/key-limits.ts';
import type { KeyLimitChange, KeyLimits } from '../../domain/key-limits.ts';
import { parseRfc3339, rfc3339 } from '../../domain/period.ts';
import { isScope, SCOPES, SCOPES_MAX } from '../../domain/scopes.ts';
import { Type } from '../../domain/typebox.ts';
import { windowTexts, writtenWindows } from '../../domain/window-limits.ts';
import { moment, text, whole, windowEntries, windowList } from '../fields.ts';

interface LimitRow<Of extends keyof KeyLimits, Given extends TSchema, Shown extends TSchema> {
  /** The member of a key that it is. */
  readonly of: Of;
  /** As it is given. */
  readonly given: Given;
  /** As it is shown. */
  readonly shown: Shown;
  /** From what was given to what is stored, and to what is shown; by default the same. */
  readonly stored?: (given: Static<Given>) => KeyLimits[Of];
  readonly show?: (stored: NonNullable<KeyLimits[Of]>) => Static<Shown> | undefined;
  /** In lists, which show all limits in a line. */
  readonly words: (shown: Static<Shown>) => string;
  /** In the audit log, if that has another text than the rows. */
  readonly audited?: (stored: NonNullable<KeyLimits[Of]>) => string;
}

/** A row with its types. */
function limit<Of extends keyof KeyLimits, Given extends TSchema, Shown extends TSchema>(row: LimitRow<Of, Given, Shown>) {
  return row;
}

const range = text(
  'an address or a range such as 203.0.113.7, 10.0.0.0/8 or 2001:db8::/32',
  (one) => canonicalRange(one) !== undefined,
  'An address or a range in CIDR notation, of IPv4 or IPv6.',
);
const scope = text(
  `a scope; scopes are ${SCOPES.join(', ')}, and forward:NAME for forward routes of that name`,
  isScope,
  `One of ${SCOPES.map((one) => `\`${one}\``).join(', ')}, or \`forward:\` and a name.`,
);
const texts = Type.Array(Type.String());
const joined = (list: readonly string[]): string => list.join(' ');

/** In the order of forms, flags and lists. */
const ROWS = {
  expires_at: limit({
    of: 'expiresAtMs',
    given: text(
      'an RFC 3339 time with a time zone, such as 2027-01-31T18:00:00Z',
      (at) => parseRfc3339(at) !== undefined,
      'When the key expires: RFC 3339 with a time zone, such as 2027-01-31T18:00:00Z; not in the past.',
      { value: 'RFC3339', removes: 'no-expires-at', attributes: { maxlength: 40 } },
    ),
    shown: moment,
    stored: parseRfc3339,
    show: rfc3339,
    words: (at) => `until ${at}`,
  }),
  requests_per_second: limit({
    of: 'requestsPerSecond',
    given: Type.Integer({
      minimum: 1,
      maximum: RATE_MAX,
      description: "The key's own rate, checked after the team's, which it cannot raise.",
      given: { removes: 'no-requests-per-second' },
    }),
    shown: whole,
    words: (rate) => `${rate}/s`,
  }),
  characters: limit({
    of: 'characters',
    given: Type.Integer({
      minimum: 1,
      maximum: CHARACTERS_MAX,
      description: "How many characters the key may use in each of the team's periods.",
      given: { label: 'Characters per period', removes: 'no-characters' },
    }),
    shown: whole,
    words: (characters) => `${characters} characters`,
  }),
  limits: limit({
    of: 'windows',
    given: windowList,
    shown: windowList,
    stored: writtenWindows,
    show: windowEntries,
    words: (limits) => windowTexts(writtenWindows(limits)).join(', '),
    audited: String,
  }),
  allowed_addresses: limit({
    of: 'allowedAddresses',
    given: Type.Array(range, {
      minItems: 1,
      maxItems: ALLOWED_ADDRESSES_MAX,
      description: 'Addresses and ranges from which the key may be used, such as 203.0.113.7, 10.0.0.0/8 or 2001:db8::/32.',
      given: { flag: 'allow', value: 'CIDR', removes: 'no-allow' },
    }),
    shown: texts,
    stored: (ranges) => [...new Set(ranges.map((one) => canonicalRange(one)!))],
    show: (ranges) => [...ranges],
    words: (ranges) => `from ${joined(ranges)}`,
    audited: joined,
  }),
  scopes: limit({
    of: 'scopes',
    given: Type.Array(scope, {
      minItems: 1,
      maxItems: SCOPES_MAX,
      description: `What the key may be used for: ${SCOPES.join(', ')} or forward:NAME; without scopes, for everything. Any other request is a 403 \`forbidden\`.`,
      given: { flag: 'scope', value: 'SCOPE', removes: 'no-scopes' },
    }),
    shown: texts,
    stored: (scopes) => [...new Set(scopes)],
    show: (scopes) => [...scopes],
    words: (scopes) => `only ${joined(scopes)}`,
    audited: joined,
  }),
};

type Rows = typeof ROWS;
type Name = keyof Rows;
/** A row whose types do not matter. */
type AnyRow = LimitRow<never, never, never>;

const LIMITS = Object.entries(ROWS) as unknown as readonly (readonly [Name, AnyRow])[];
export const LIMIT_NAMES = Object.keys(ROWS) as readonly Name[];

/** What may be given, and what rows of keys have. */
export const LimitsGiven = members(({ given }) => given) as { [N in Name]: Rows[N]['given'] };
export const LimitsShown = members(({ shown }) => Type.Optional(shown)) as { [N in Name]: TOptional<Rows[N]['shown']> };

/** A key's limits as operators see them. */
export type ShownLimits = { readonly [N in Name]?: Static<Rows[N]['shown']> };
/** `null` removes a limit. */
type GivenLimits = { readonly [N in Name]?: NonNullable<ShownLimits[N]> | null };

/** A member for each limit, unless its value is `undefined`. */
function members(valueOf: (row: AnyRow, name: Name) => unknown): object {
  const all = LIMITS.map(([name, row]) => [name, valueOf(row, name)] as const);
  return Object.fromEntries(all.filter(([, value]) => value !== undefined));
}

/** What is given, as the store takes it. */
export function limitChange(given: GivenLimits): KeyLimitChange {
  const changes = LIMITS.filter(([name]) => given[name] !== undefined).map(([name, { of, stored = same }]) => {
    return [of, given[name] === null ? null : stored(given[name] as never)] as const;
  });
  return Object.fromEntries(changes);
}

export function limitsReport(limits: KeyLimits): ShownLimits {
  return members(({ of, show = same }) => (limits[of] === undefined ? undefined : show(limits[of])));
}

/** `until 2027-01-31T18:00:00Z, 5/s, from 10.0.0.0/8, only usage:read`; or `undefined`. */
export function limitsText(limits: ShownLimits): string | undefined {
  const words = Object.values(members((row, name) => (limits[name] === undefined ? undefined : row.words(limits[name] as never))));
  return words.length === 0 ? undefined : words.join(', ');
}

/** Members of an audit entry, of which those that are limits have the names and texts of limits. */
export function limitsAudited(state: Readonly<Record<string, unknown>>): object {
  const limits = members(({ of, show = same, audited = show }) => (state[of] === undefined ? undefined : audited(state[of] as never)));
  const others = Object.entries(state).filter(([member]) => !LIMITS.some(([, { of }]) => of === member));
  return { ...Object.fromEntries(others), ...limits };
}

function same<T>(value: T): T {
  return value;
}
