// Money as whole numbers: millionths of a minor currency unit, never floats, never negative; and
// currencies by ISO 4217: which codes there are, and how many decimals each has.

/** Of a minor unit (a cent, for EUR): a price per million characters times characters is exact. */
export type Micro = number;

export const MICRO_PER_MINOR = 1_000_000;

/** The largest amount of minor units whose millionths are still exact integers. */
export const MINOR_MAX = Math.floor(Number.MAX_SAFE_INTEGER / MICRO_PER_MINOR);

/** The price of `characters`: exact, because minor units per million equal millionths per one. */
export function costMicro(characters: number, minorPerMillion: number): Micro {
  return characters * minorPerMillion;
}

export function toMicro(minor: number): Micro {
  return minor * MICRO_PER_MINOR;
}

/** For what a caller has: never overstated. */
export function minorRoundedDown(micro: Micro): number {
  return Math.floor(micro / MICRO_PER_MINOR);
}

/** For what a caller needs: never understated. */
export function minorRoundedUp(micro: Micro): number {
  return Math.ceil(micro / MICRO_PER_MINOR);
}

/** How many characters beyond the included ones a cap covers. A cap or price of 0 means none. */
export function overageCharacters(capMinor: number, minorPerMillion: number): number {
  return minorPerMillion === 0 ? 0 : Math.floor(toMicro(capMinor) / minorPerMillion);
}

/**
 * Those without two decimals. `Intl.NumberFormat` has those usually displayed: none for the forint
 * or the Iraqi dinar, which ISO 4217, and so every bank, gives two and three.
 */
const OTHER_DECIMALS: Readonly<Record<number, string>> = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
};
const DECIMALS: ReadonlyMap<string, number> = new Map(
  Object.entries(OTHER_DECIMALS).flatMap(([decimals, codes]) => codes.split(' ').map((code) => [code, Number(decimals)] as const)),
);
const USUAL_DECIMALS = 2;

/** Of the standard, but unknown to this platform: funds, and what was added since. */
const MORE_CODES = 'BOV CHE CHW CLF COU MXV SLE USN UYI UYW VED XAD XCG ZWG';

let codes: ReadonlySet<string> | undefined;

/** Whether it is the code of a currency, in capital letters. */
export function isCurrency(code: string): boolean {
  codes ??= new Set([...Intl.supportedValuesOf('currency'), ...MORE_CODES.split(' ')]);
  return codes.has(code);
}

/** How many decimals an amount has: its minor unit is that part of the currency's unit. */
export function decimalsOf(currency: string): number {
  return DECIMALS.get(currency) ?? USUAL_DECIMALS;
}

/** Minor units as an amount: `1250.00`, `1250` in JPY, `1.250` in KWD. No number is divided. */
export function amountText(minor: number, currency: string): string {
  const decimals = decimalsOf(currency);
  const digits = String(Math.abs(minor)).padStart(decimals + 1, '0');
  const sign = minor < 0 ? '-' : '';
  if (decimals === 0) return sign + digits;
  return `${sign}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}
