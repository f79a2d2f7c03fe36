// The charges of an account in sums, for stores that keep nothing else of what was charged.
import { spentIn } from '../../domain/period.ts';
import type { Micro } from '../../domain/money.ts';
import type { KeyContents, PeriodContents } from '../../ports/whole-accounts.ts';
import type { WholeAccount } from '../../ports/whole-accounts.ts';

/** Of a key, on a day or in a period: an account does not tell which charges of a day were of which period. */
export interface ChargeSum {
  readonly keyId: string;
  readonly day: number | undefined;
  readonly period: number | undefined;
  readonly characters: number;
  readonly requests: number;
  readonly micro: Micro;
  /** Of the characters, those of the allowance for test keys. */
  readonly ofAllowance: number;
}

type KeyUse = Pick<ChargeSum, 'keyId' | 'characters' | 'requests'>;

/** Those with a day add up to the account's days, those with a period to its periods. */
export function chargeSums({ keys, days, period, periods, standing }: WholeAccount): readonly ChargeSum[] {
  const ofDays = days.map((one): ChargeSum => ({ ...one, period: undefined, micro: 0, ofAllowance: 0 }));
  const current = period && { ...period, allowanceUsed: standing.allowanceUsed, keys: keys.filter(({ requests }) => requests > 0) };
  const all = current === undefined ? periods : [...periods, current];
  return [...ofDays, ...all.flatMap((one) => sumsOf(one, one.keys ?? usesByMode(one as PeriodContents, keys), keys))];
}

type SummedPeriod = Pick<PeriodContents, 'number' | 'credit' | 'allowanceUsed'>;

/** What was spent is counted for the first key. */
function sumsOf({ number, credit, allowanceUsed }: SummedPeriod, uses: readonly KeyUse[], keys: readonly KeyContents[]): ChargeSum[] {
  const tests = new Set(keys.filter(({ mode }) => mode === 'test').map(({ keyId }) => keyId));
  let left = allowanceUsed;
  return uses.map(({ keyId, characters, requests }, i) => {
    const ofAllowance = tests.has(keyId) ? Math.min(left, characters) : 0;
    left -= ofAllowance;
    return { keyId, day: undefined, period: number, characters, requests, micro: i === 0 ? spentIn(credit) : 0, ofAllowance };
  });
}

/** If only the totals of a period are known, they are assigned to the first key of each mode, because nothing reports whose they were. */
function usesByMode({ characters, testCharacters, requests }: PeriodContents, keys: readonly KeyContents[]): readonly KeyUse[] {
  const [first] = keys;
  if (first === undefined) return [];
  const test = keys.find(({ mode }) => mode === 'test');
  const live = keys.find(({ mode }) => mode === 'live');
  const ofTests = live === undefined ? characters : test === undefined ? 0 : testCharacters;
  const all = [
    { keyId: (test ?? first).keyId, characters: ofTests },
    { keyId: (live ?? first).keyId, characters: characters - ofTests },
  ].filter((one) => one.characters > 0);
  if (all.length === 0) return requests === 0 ? [] : [{ keyId: first.keyId, characters, requests }];
  return all.map((one, i) => ({ ...one, requests: i === 0 ? Math.max(1, requests - all.length + 1) : 1 }));
}
