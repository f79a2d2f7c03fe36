// Cache keys: everything that determines a translation, as unambiguous strings, and their digest for Redis.
import { hash } from 'node:crypto';
import { keyOfOptions, sameOptions } from 'lingate';
import type { TranslationOptions } from 'lingate';

/** Change it when the content of keys changes; entries with older keys are then not found. */
const KEY_VERSION = 'lingate memory 1';

const TARGETS_MAX = 200;

/** A digest: 43 ASCII characters. */
export type TextKey = string;

/** The start of all keys of a team. */
export function teamPart(teamId: string): string {
  return counted(teamId);
}

/** The part of keys after the team. The last one for each target language is kept: most requests have the same options. */
export class OptionsParts {
  readonly #last = new Map<string, { readonly engine: string; readonly options: TranslationOptions; readonly part: string }>();

  of(engine: string, options: TranslationOptions): string {
    const last = this.#last.get(options.targetLang);
    if (last !== undefined && last.engine === engine && sameOptions(last.options, options)) return last.part;
    const part = counted(engine) + keyOfOptions(options);
    // Others rarely repeat and may be long.
    if (options.context === undefined && options.glossary === undefined && options.ignoreTags === undefined) {
      if (this.#last.size >= TARGETS_MAX) this.#last.clear();
      this.#last.set(options.targetLang, { engine, options, part });
    }
    return part;
  }
}

/** The start of what the digests of a piece of work are made from. */
export function keyBeginning(team: string, options: string): string {
  return counted(`${KEY_VERSION}|${team}${options}`);
}

/** `undefined` if there is a lone surrogate, which UTF-8 cannot represent. */
export function keyOfText(beginning: string, text: string): TextKey | undefined {
  return text.isWellFormed() && beginning.isWellFormed() ? hash('sha256', beginning + text, 'base64url') : undefined;
}

/** The length in front prevents ambiguity. */
function counted(part: string): string {
  return `${part.length}:${part}`;
}
