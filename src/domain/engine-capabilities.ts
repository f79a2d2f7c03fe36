// What engines can do: each capability is listed once, with what is assumed of a protocol that does not declare it.
import type { TextFormat } from './translation-options.ts';

/** What an engine can do. Whatever it cannot do is rejected or withheld from it, never dropped silently. */
export interface EngineCapabilities {
  /** Texts per call. */
  readonly textsMax: number;
  readonly formats: readonly TextFormat[];
  readonly formality: boolean;
  /** Context is only a hint and may be omitted. */
  readonly context: boolean;
  readonly glossaries: boolean;
  /** Takes a caller's instructions for the wording. By default not. */
  readonly instructions: boolean;
  /** Takes ids of style rules and translation memories that are kept at the engine. By default not. */
  readonly styles: boolean;
  /** Detects and reports the language of a text sent without one. */
  readonly detection: boolean;
  /** Texts of several callers may share a call, because none can affect the translation of another. */
  readonly sharedCalls: boolean;
}

/** What a protocol that does not say otherwise can do: nothing that protocols written before it was introduced would drop. */
const ASSUMED: EngineCapabilities = {
  textsMax: Infinity,
  formats: ['text'],
  formality: true,
  context: true,
  glossaries: true,
  instructions: false,
  styles: false,
  detection: true,
  sharedCalls: true,
};

/** All capabilities, with defaults for those that are not declared. */
export function capabilitiesOf(declared: Partial<EngineCapabilities> = {}): EngineCapabilities {
  return { ...ASSUMED, ...declared };
}

type Ability = Exclude<keyof EngineCapabilities, 'textsMax' | 'formats'>;
const ABILITIES = (Object.keys(ASSUMED) as (keyof EngineCapabilities)[]).filter(
  (name): name is Ability => typeof ASSUMED[name] === 'boolean',
);

/** What at least one of several engines can do. */
export function anyOf(all: readonly EngineCapabilities[]): EngineCapabilities {
  const can = {
    ...ASSUMED,
    textsMax: Math.max(0, ...all.map(({ textsMax }) => textsMax)),
    formats: [...new Set(all.flatMap(({ formats }) => formats))],
  };
  for (const ability of ABILITIES) can[ability] = all.some((one) => one[ability]);
  return can;
}
