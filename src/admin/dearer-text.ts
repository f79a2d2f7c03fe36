// What a change of plan makes dearer, in words.
import type { Dearer } from './dearer.ts';

/** What it does, for a sentence that begins with "This". `amount` writes minor units. */
export function dearerText({ teams, minor }: Dearer, amount: (minor: number) => string): string {
  const whose = teams === 1 ? 'one team' : `${teams} teams`;
  const by =
    minor === 0
      ? 'for what is used from now on, or refused by a limit below what is used'
      : `by ${amount(minor)} for what has been used so far`;
  return `makes the running period dearer for ${whose}, ${by}`;
}

/** For where an amount has no better form. */
export function minorText(currency: string): (minor: number) => string {
  return (minor) => `${minor} minor units of ${currency}`;
}
