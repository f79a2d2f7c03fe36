// Tags in a run: what callers send, and the settings that operators give them.
import type { TagSettings } from '../../../src/domain/request-tag.ts';
import type { Random } from './random.ts';
import { drawWindows } from './windows.ts';

export interface TagPlan {
  /** How many different tags of a team are counted. */
  readonly distinctMax: number;
  /** How often operators change settings. */
  readonly changesPerSecond: number;
}

/** What a request has in its field. */
export interface SentTag {
  readonly field: string;
  /** `null` for what is no tag, `undefined` for none, both listed by hand: the checker must not read tags as the gateway does. */
  readonly name: string | undefined | null;
}

/** Those with settings at some time. */
export const TAG_NAMES = ['acme', 'b~!'];
/** A tag has few requests in a run: larger ones would not be reached, smaller ones would refuse most texts by their length. */
const WINDOW_CHARACTERS = [20, 30, 30, 40];
const KNOWN: readonly SentTag[] = [
  { field: 'acme', name: 'acme' },
  { field: ' ACME\t', name: 'acme' },
  { field: 'acme', name: 'acme' },
  { field: 'B~!', name: 'b~!' },
];
const NONE: readonly SentTag[] = [
  { field: '', name: undefined },
  { field: '  ', name: undefined },
];
const MALFORMED: readonly SentTag[] = [
  { field: 'two words', name: null },
  { field: 'caf\u00e9', name: null },
  { field: 'x'.repeat(101), name: null },
];

export function drawTagPlan(random: Random): TagPlan | undefined {
  return random.chance(0.3) ? undefined : { distinctMax: random.pick([1, 3, 1000]), changesPerSecond: random.pick([0, 1, 4]) };
}

/** One of a few, one that nobody has sent before, none, or something malformed; `undefined` if there is no field. */
export function drawTag(random: Random): SentTag | undefined {
  const shape = random.next();
  if (shape < 0.2) return undefined;
  if (shape < 0.84) return random.pick(KNOWN);
  if (shape < 0.94) {
    const name = `new-${random.word('0123456789abcdef', 12)}`;
    return { field: name, name };
  }
  return random.pick(shape < 0.97 ? NONE : MALFORMED);
}

export function drawTagSettings(random: Random): TagSettings {
  return {
    disabled: random.chance(0.08),
    ...(random.chance(0.4) ? { requestsPerSecond: random.pick([1, 1, 2, 5]) } : {}),
    ...(random.chance(0.3) ? { characters: random.pick([5, 40, 300]) } : {}),
    ...(random.chance(0.9) ? { windows: drawWindows(random, WINDOW_CHARACTERS) } : {}),
  };
}
