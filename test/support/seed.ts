// The seed of all that tests draw at random. Without a seed from outside it is always the same: two runs of one commit then
// judge the same cases, and a run that fails can be repeated. New cases come from `npm run task -- test:long`.
import process from 'node:process';

/** Set to how many times as many cases are drawn as in `npm test`. */
export const DRAWS_VARIABLE = 'LINGATE_DRAWS';

/** Repeats a run, or makes another one. */
export const SEED_VARIABLE = 'LINGATE_SEED';

const { [SEED_VARIABLE]: given = '1' } = process.env;

/** From 0 to 2^31 - 1. */
export const SEED = Number(given);
if (!/^\d{1,10}$/.test(given) || SEED >= 2 ** 31) throw new Error(`${SEED_VARIABLE}=${given}: write an integer from 0 to 2147483647`);

/** How many cases to draw: these in `npm test`, many times as many in `npm run task -- test:long`. */
export const draws = (inTheGate: number): number => inTheGate * Number(process.env[DRAWS_VARIABLE] ?? 1);

/** What a variable of the environment says, if anything. */
export function wholeNumber(variable: string): number | undefined {
  const text = process.env[variable];
  if (text === undefined || text === '') return undefined;
  const number = Number(text);
  if (!Number.isSafeInteger(number)) throw new Error(`${variable} is ${text}: must be a whole number`);
  return number;
}
