// The parameters of a request's query: names in any case, as Azure reads them, and what single ones may be.
import type { Judged } from '../facades/members.ts';
import { wrong } from './azure-problem-form.ts';

/** Values as they came, by their names in lower case. */
export type Query = ReadonlyMap<string, readonly string[]>;

export function queryOf(query: string): Query {
  const found = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(query)) {
    const key = name.toLowerCase();
    const values = found.get(key);
    if (values === undefined) found.set(key, [value]);
    else values.push(value);
  }
  return found;
}

const BAD_VERSION = wrong(400_021, 'api-version: must be 3.0, in the query of every request.');

/** Whether the request is in the version that this API is; else why not. */
export function judgeVersion(query: Query): Judged<'3.0'> {
  const versions = query.get('api-version') ?? [];
  return versions.length === 1 && versions[0] === '3.0' ? { sound: '3.0' } : BAD_VERSION;
}

/** The value of a parameter that may be there once; `undefined` where it is absent or empty. */
export function single(query: Query, name: string, number = 400_000): Judged<string | undefined> {
  const values = query.get(name.toLowerCase()) ?? [];
  if (values.length > 1) return wrong(number, `${name}: may be given once.`);
  return { sound: values[0] === '' ? undefined : values[0] };
}

/** One of these words in any case; `undefined` where it is absent or empty. */
export function oneOf<Word extends string>(query: Query, name: string, words: readonly Word[], number = 400_000): Judged<Word | undefined> {
  const judged = single(query, name, number);
  if ('problem' in judged || judged.sound === undefined) return judged as Judged<undefined>;
  const lower = judged.sound.toLowerCase();
  const sound = words.find((word) => word.toLowerCase() === lower);
  return sound === undefined ? wrong(number, `${name}: must be ${words.join(' or ')}.`) : { sound };
}
