// Language codes as Azure writes them, such as `de`, `pt-PT` and `zh-Hans`, and ours, such as `DE`, `PT-PT` and `ZH`.
import type { Languages } from 'lingate';
import { targetOf } from '../facades/default-variants.ts';
import type { DefaultVariants } from '../facades/default-variants.ts';

const SCRIPT = /^[A-Z]{4}$/;

/** `code` is in upper case. A bare `ZH` is simplified Chinese. */
export function theirCode(code: string): string {
  if (code === 'ZH') return 'zh-Hans';
  const [base = '', part] = code.split('-');
  if (part === undefined) return base.toLowerCase();
  return `${base.toLowerCase()}-${SCRIPT.test(part) ? part.charAt(0) + part.slice(1).toLowerCase() : part}`;
}

export interface Target {
  /** The code in the answer: the requested one, in Azure's spelling. */
  readonly to: string;
  /** Canonical. */
  readonly targetLang: string;
}

/** The target for a code; `undefined` if it is none. */
export function targetNamed(value: string, languages: Languages, variants: DefaultVariants): Target | undefined {
  const targetLang = targetOf(value, languages, variants);
  return targetLang === undefined ? undefined : { to: theirCode(value.toUpperCase()), targetLang };
}
