// A contestant of the bench: how it is started, how it is called, what it must answer, and the request that everybody gets.
import { createHash } from 'node:crypto';
import { countCharacters } from '../../src/domain/characters.ts';
import type { Cores, Program } from '../machine.ts';

export const TRANSLATE_PATH = '/v1/translate';
export const SAMPLE_TEXT = 'The house by the sea is for sale.';

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
  /** Throws `NotOffered` if this machine or checkout lacks it. */
  readonly start: (ground: Ground) => Promise<Running>;
}

/** The bench continues without it. */
export class NotOffered extends Error {}

/** What every single answer is compared with. */
export interface Expected {
  readonly statuses: readonly number[];
  /** `undefined`: only the status is checked, for answers that carry an id. */
  readonly body: string | undefined;
}

/** A contestant that accepts connections. */
export interface Running {
  readonly port: number;
  readonly path: string;
  /** Its tree of processes is measured. */
  readonly pid: number;
  readonly redis: Program | undefined;
  /** Values of `Authorization`, one for each key; one empty string if no key is needed. */
  readonly authorizations: readonly string[];
  readonly expect: (texts: readonly string[]) => Expected;
  /** It answers the sample, whatever was asked. */
  readonly isConstant?: boolean;
  /** Tries the refusals that it promises, before timing; throws if one is missing. */
  readonly checkRefusals?: () => Promise<void>;
  /** The characters that its teams were charged. */
  readonly charged?: () => Promise<number>;
  readonly stop: () => Promise<void>;
}

/** One that only forwards requests: no key, and the engine's own answer. */
export function plainProxy({ port, pid, stop }: Program): Running {
  return { port, path: TRANSLATE_PATH, pid, redis: undefined, authorizations: [''], expect: engineAnswer, stop };
}

/** Which a plain proxy passes on. */
export function engineAnswer(texts: readonly string[]): Expected {
  return { statuses: [200], body: `{"translations":[${translations(texts)}]}` };
}

/** Lingate's answer. */
export function gatewayAnswer(texts: readonly string[]): Expected {
  return { statuses: [200], body: `{"translations":[${translations(texts)}],"billed_characters":${charactersOf(texts)}}` };
}

export function charactersOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + countCharacters(text), 0);
}

function translations(texts: readonly string[]): string {
  return texts.map((text) => `{"detected_source_language":"EN","text":${JSON.stringify(`DE: ${text}`)}}`).join(',');
}

/** Made-up keys in Lingate's format, the same for every contestant that needs them. */
export function benchKeys(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `la_live_${createHash('sha256').update(`bench ${index}`).digest('hex').slice(0, 40)}`);
}

export function bearer(key: string): string {
  return `Bearer ${key}`;
}

export function bodyOf(texts: readonly string[]): string {
  return JSON.stringify({ text: texts, target_lang: 'DE' });
}

export function post(port: number, path: string, authorization: string, body: string): Promise<Response> {
  const headers = { 'content-type': 'application/json', ...(authorization === '' ? {} : { authorization }) };
  return fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body });
}

export async function expectStatus(port: number, authorization: string, required: number, what: string): Promise<void> {
  const { status } = await post(port, TRANSLATE_PATH, authorization, bodyOf([SAMPLE_TEXT]));
  if (status !== required) throw new Error(`${what} returned ${status} instead of ${required}`);
}

/** One of four concurrent requests over a limit of one a second must be refused. */
export async function expectLimit(port: number, authorization: string): Promise<void> {
  const answers = await Promise.all([1, 2, 3, 4].map(() => post(port, TRANSLATE_PATH, authorization, bodyOf([SAMPLE_TEXT]))));
  if (!answers.some(({ status }) => status === 429)) throw new Error('four concurrent requests over the limit were all admitted');
}
