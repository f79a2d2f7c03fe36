// A contestant of the bench: how it is started, how it is called, and what it must answer.
import { countCharacters } from '../../src/domain/characters.ts';
import type { Expected } from '../load/load-job.ts';
import type { TextVariety } from '../load/text-variety.ts';
import type { Cores } from '../machine/cores.ts';

/** What every contestant gets. */
export interface Ground {
  readonly cores: Cores;
  readonly enginePort: number;
  /** A folder of its own for settings and logs, deleted after the bench. */
  readonly folder: string;
  /** How many keys the load uses in turn, each of a different team. */
  readonly teams: number;
}

export interface Contestant {
  readonly name: string;
  /** What it does with each request, in a few words for readers. */
  readonly does: string;
  /** If it differs from the bench's number. */
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
  /** Values of `Authorization`, one per key; one empty string if no key is needed. */
  readonly authorizations: readonly string[];
  /** The required answer to a request with these texts. */
  readonly expect: (texts: readonly string[]) => Expected;
  /** Without it the load always sends the same text. */
  readonly variety?: TextVariety | undefined;
  /** Tests its promised refusals before timing; throws if one is missing. */
  readonly checkRefusals?: () => Promise<void>;
  /** Gets the number of characters delivered in all; throws if the accounts differ. */
  readonly audit?: (characters: number) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** The path that callers of a gateway use. */
export const TRANSLATE_PATH = '/v1/translate';

/** The engine's answer, which a plain proxy passes on. */
export function engineAnswer(texts: readonly string[]): Expected {
  return { status: 200, body: `{"translations":[${translations(texts)}]}` };
}

/** Lingate's answer. */
export function gatewayAnswer(texts: readonly string[]): Expected {
  const characters = texts.reduce((sum, text) => sum + countCharacters(text), 0);
  return { status: 200, body: `{"translations":[${translations(texts)}],"billed_characters":${characters}}` };
}

function translations(texts: readonly string[]): string {
  return texts.map((text) => `{"detected_source_language":"EN","text":${JSON.stringify(`DE: ${text}`)}}`).join(',');
}

/** This checkout or machine lacks this contestant; the bench continues without it. */
export class NotOffered extends Error {}
