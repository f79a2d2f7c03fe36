// What takes part in the bench: how it is started, how it is called, and what it must answer.
import { countCharacters } from '../../src/domain/characters.ts';
import type { Expected } from '../load/load-job.ts';
import type { TextVariety } from '../load/text-variety.ts';
import type { Cores } from '../machine/cores.ts';

/** What every contestant is given. */
export interface Ground {
  readonly cores: Cores;
  readonly enginePort: number;
  /** A folder of its own, for settings and logs; gone after the bench. */
  readonly folder: string;
  /** How many keys the load uses in turn, each of a team of its own. */
  readonly teams: number;
}

export interface Contestant {
  readonly name: string;
  /** In a few words, for people: what it does with each request. */
  readonly does: string;
  /** Other than the bench's own number of them. */
  readonly teams?: number;
  /** Plain proxies and the floor need no key. */
  start(ground: Ground): Promise<Running>;
}

export interface RedisServer {
  readonly pid: number;
  readonly port: number;
}

/** A contestant that accepts connections. */
export interface Running {
  readonly port: number;
  readonly path: string;
  /** Process ids whose trees are measured. */
  readonly gatewayPid: number;
  readonly redis: readonly RedisServer[];
  /** Values of `Authorization`, one per key; one empty string when no key is asked for. */
  readonly authorizations: readonly string[];
  /** What a request with these texts must be answered. */
  readonly expect: (texts: readonly string[]) => Expected;
  /** Without it the load always sends the same text. */
  readonly variety?: TextVariety | undefined;
  /** Refusals that it promises, tried out before timing; throws where one does not come. */
  readonly checkRefusals?: () => Promise<void>;
  /** Told how many characters were delivered in all; throws when the books say otherwise. */
  readonly audit?: (characters: number) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** The path that callers of a gateway use. */
export const TRANSLATE_PATH = '/v1/translate';

/** What the engine says, and what a plain proxy passes on. */
export function engineAnswer(texts: readonly string[]): Expected {
  return { status: 200, body: `{"translations":[${translations(texts)}]}` };
}

/** What Lingate makes of it. */
export function gatewayAnswer(texts: readonly string[]): Expected {
  const characters = texts.reduce((sum, text) => sum + countCharacters(text), 0);
  return { status: 200, body: `{"translations":[${translations(texts)}],"billed_characters":${characters}}` };
}

function translations(texts: readonly string[]): string {
  return texts.map((text) => `{"detected_source_language":"EN","text":${JSON.stringify(`DE: ${text}`)}}`).join(',');
}

/** This tree or machine has no such contestant; the bench goes on without it. */
export class NotOffered extends Error {}
