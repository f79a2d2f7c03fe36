// Language codes as Azure writes them, such as `de`, `pt-PT` and `zh-Hans`.
import type { Languages } from 'lingate';
import { sourceNamed, targetNamed } from '../facades/code-names.ts';
import type { DefaultVariants } from '../facades/default-variants.ts';
import { standardCode } from '../facades/language-names.ts';

/** Our codes that Azure writes differently, not just in another case. */
const THEIRS: ReadonlyMap<string, string> = new Map([
  ['ZH-CN', 'zh-Hans'],
  ['ZH-TW', 'zh-Hant'],
  ['NO', 'nb'],
  ['IW', 'he'],
  ['SR', 'sr-Cyrl'],
  ['MN', 'mn-Cyrl'],
  ['NY', 'nya'],
  ['LG', 'lug'],
  ['RN', 'run'],
  ['CKB', 'ku'],
  ['KU', 'kmr'],
  ['HMN', 'mww'],
  ['TL', 'fil'],
]);
/** Codes that mean another language here than elsewhere: Kurdish is the one of Iraq. */
const OURS: ReadonlyMap<string, string> = new Map([['ku', 'CKB']]);

/** `code` is in upper case. A bare `ZH` is simplified Chinese. */
export function theirCode(code: string): string {
  return THEIRS.get(code) ?? standardCode(code);
}

export interface Target {
  /** The code in the answer, in Azure's spelling: the requested one, or the one that it means. */
  readonly to: string;
  /** Canonical. */
  readonly targetLang: string;
}

/** The target for a code; `undefined` if it is none. */
export function targetCode(value: string, languages: Languages, variants: DefaultVariants): Target | undefined {
  const found = targetNamed(OURS.get(value.toLowerCase()) ?? value, languages, variants);
  return found === undefined ? undefined : { to: theirCode(found.name), targetLang: found.code };
}

/** The canonical source for a code; `undefined` if it is none. */
export function sourceCode(value: string, languages: Languages): string | undefined {
  return sourceNamed(OURS.get(value.toLowerCase()) ?? value, languages);
}
