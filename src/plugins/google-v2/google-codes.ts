// Language codes as Google writes them: lower case, regions in upper case, different names for some.
import { standardCode } from '../facades/language-names.ts';

/** Our codes that Google writes differently, not just in lower case. */
const THEIRS: ReadonlyMap<string, string> = new Map([
  ['ZH', 'zh-CN'],
  ['ZH-HANS', 'zh-CN'],
  ['ZH-HANT', 'zh-TW'],
  ['NB', 'no'],
  ['KMR', 'ku'],
]);

/** A canonical code in Google's spelling: `PT-BR` is `pt-BR`, `ZH` is `zh-CN`. */
export function theirCode(code: string): string {
  return THEIRS.get(code) ?? standardCode(code);
}
