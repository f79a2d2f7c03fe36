// The dictionaries of teams that are stored at one DeepL server: found by name, made when first
// used, removed when no longer needed. Any gateway may do any of that at any time: names hold team
// and content, and a missing dictionary is made again, unless it exceeds DeepL's limits.
import { setTimeout as delay } from 'node:timers/promises';
import { createHash } from 'node:crypto';
import type { AttemptFailure, EngineCall, EngineResponse, EngineWire, EngineWork } from '../../ports/engine.ts';
import { isJsonObject, jsonObjectOf, LIST_BOUNDS } from './json-call.ts';
import type { CallResult } from './json-call.ts';
import { nextTurn } from '../../core/turns.ts';
import { baseCode } from '../../domain/glossary.ts';
import { eachEntry } from '../../domain/entries-text.ts';
import { DAY_MS } from '../../domain/period.ts';
import type { EngineGlossary, TranslationOptions } from '../../domain/translation-options.ts';

type Calls = Pick<EngineWire, 'call'>;

/** A dictionary at the server. */
interface Listed {
  readonly id: string;
  readonly name: string;
  readonly ready: boolean;
  readonly madeAtMs: number;
}

/** A dictionary that this process has used. */
interface UsedDictionary {
  readonly id: string;
  /** Since `tidy` last looked. */
  used: boolean;
  usedAtMs: number | undefined;
}

/** More than DeepL allows an account. */
const DICTIONARIES_MAX = 2000;
const TEAMS_MAX = 1000;
/** How often a new dictionary is asked about until it is ready. */
const READY_EVERY_MS = 200;
/** Failures of whoever made a dictionary that say nothing to others who wait for it. */
const OF_ONE_CALLER: readonly AttemptFailure[] = ['cancelled', 'timeout'];
const PATH = '/v2/glossaries';

export class StoredGlossaries {
  readonly #authorization: string;
  /** By name, in order of use. */
  readonly #dictionaries = new Map<string, UsedDictionary>();
  readonly #making = new Map<string, Promise<UsedDictionary | AttemptFailure>>();
  /** Names that the server refused; tried again after the next `tidy`. */
  readonly #refused = new Set<string>();
  /** Teams that were deleted: a request that is still under way must not leave anything there. */
  readonly #forgotten = new Set<string>();

  constructor(authorization: string) {
    this.#authorization = authorization;
  }

  /** The id of the dictionary with this name, made by `make` if there is none; or a failure. */
  async id(name: string, wire: Calls, make: () => Promise<EngineCall>): Promise<{ readonly id: string } | AttemptFailure> {
    for (;;) {
      const known = this.#dictionaries.get(name);
      if (known !== undefined) {
        this.#keep(name, known);
        return known;
      }
      if (this.#refused.has(name) || this.#forgotten.has(teamInName(name) ?? '')) return 'glossary_refused';
      const making = this.#making.get(name);
      if (making === undefined) break;
      const made = await making;
      if (typeof made !== 'string' || !OF_ONE_CALLER.includes(made)) return made;
    }
    // One at a time, however many requests wait for it.
    const making = this.#findOrMake(name, wire, make).finally(() => this.#making.delete(name));
    this.#making.set(name, making);
    return making;
  }

  /** The server does not know this id (any more). */
  drop(name: string, id: string): void {
    if (this.#dictionaries.get(name)?.id === id) this.#dictionaries.delete(name);
  }

  async #findOrMake(name: string, wire: Calls, make: () => Promise<EngineCall>): Promise<UsedDictionary | AttemptFailure> {
    const before = await this.#named(name, wire);
    if (typeof before === 'string') return before;
    let chosen: Listed | undefined = before[0];
    if (chosen === undefined) {
      const made = judgeMade(await wire.call(await make()), name);
      if (made === 'glossary_refused') this.#refuse(name);
      if (typeof made === 'string') return made;
      // Others may have made it at the same time: all choose the same one and remove the rest. Who
      // chose earlier finds its own gone at the next use, and this one by its name.
      const after = await this.#named(name, wire);
      const [first = made, ...others] = typeof after === 'string' ? [] : after;
      chosen = first;
      for (const { id } of others) await this.#remove(id, wire);
    }
    const failure = await this.#untilReady(chosen, wire);
    if (failure !== undefined) return failure;
    if (this.#forgotten.has(teamInName(name) ?? '')) {
      await this.#remove(chosen.id, wire);
      return 'glossary_refused';
    }
    return this.#keep(name, { id: chosen.id, used: true, usedAtMs: undefined });
  }

  async #untilReady({ id, ready }: Listed, wire: Calls): Promise<AttemptFailure | undefined> {
    let isReady = ready;
    while (!isReady) {
      await delay(READY_EVERY_MS, undefined, { ref: false });
      // Ends with the attempt: from then on every call is its failure.
      const read = jsonObjectOf(await this.#call(wire, 'GET', `${PATH}/${id}`));
      if (typeof read === 'string') return read;
      isReady = read['ready'] !== false;
    }
    return undefined;
  }

  /**
   * Removes ours that are older than a day and were not used here for one, and all but one of a
   * name. A gateway that uses one makes it again.
   */
  async tidy(wire: Calls, nowMs: number): Promise<AttemptFailure | undefined> {
    this.#refused.clear();
    for (const known of this.#dictionaries.values()) {
      if (known.used) known.usedAtMs = nowMs;
      known.used = false;
    }
    const listed = await this.#list(wire);
    if (typeof listed === 'string') return listed;
    const seen = new Set<string>();
    for (const { id, name, madeAtMs } of listed) {
      const known = this.#dictionaries.get(name);
      const idle = known === undefined || (!known.used && nowMs - (known.usedAtMs ?? -Infinity) >= DAY_MS);
      if (!seen.has(name) && (!idle || nowMs - madeAtMs < DAY_MS)) {
        seen.add(name);
        continue;
      }
      this.drop(name, id);
      const failure = await this.#remove(id, wire);
      if (failure !== undefined) return failure;
    }
    return undefined;
  }

  /** Removes everything of a team, and makes nothing for it any more. */
  async forget(teamId: string, wire: Calls): Promise<AttemptFailure | undefined> {
    this.#forgotten.add(teamId);
    for (const oldest of this.#forgotten) if (this.#forgotten.size > TEAMS_MAX) this.#forgotten.delete(oldest);
    for (const name of this.#dictionaries.keys()) if (teamInName(name) === teamId) this.#dictionaries.delete(name);
    const listed = await this.#list(wire);
    if (typeof listed === 'string') return listed;
    for (const { id, name } of listed) {
      const failure = teamInName(name) === teamId ? await this.#remove(id, wire) : undefined;
      if (failure !== undefined) return failure;
    }
    return undefined;
  }

  /** Notes its use. */
  #keep(name: string, known: UsedDictionary): UsedDictionary {
    known.used = true;
    this.#dictionaries.delete(name);
    this.#dictionaries.set(name, known);
    for (const oldest of this.#dictionaries.keys()) if (this.#dictionaries.size > DICTIONARIES_MAX) this.#dictionaries.delete(oldest);
    return known;
  }

  #refuse(name: string): void {
    if (this.#refused.size >= DICTIONARIES_MAX) this.#refused.clear();
    this.#refused.add(name);
  }

  async #named(name: string, wire: Calls): Promise<readonly Listed[] | AttemptFailure> {
    const listed = await this.#list(wire);
    return typeof listed === 'string' ? listed : listed.filter((one) => one.name === name);
  }

  /** Those of ours, the one to be used first of each name: the oldest. */
  async #list(wire: Calls): Promise<readonly Listed[] | AttemptFailure> {
    const read = jsonObjectOf(await this.#call(wire, 'GET', PATH), LIST_BOUNDS);
    if (typeof read === 'string') return read;
    const { glossaries } = read;
    if (!Array.isArray(glossaries)) return 'wrong_shape';
    return glossaries
      .flatMap((one: unknown) => listedOf(one) ?? [])
      .toSorted((one, other) => one.madeAtMs - other.madeAtMs || (one.id < other.id ? -1 : 1));
  }

  async #remove(id: string, wire: Calls): Promise<AttemptFailure | undefined> {
    const result = await this.#call(wire, 'DELETE', `${PATH}/${id}`);
    if (typeof result === 'string') return result;
    return result.status === 204 || result.status === 200 || result.status === 404 ? undefined : 'status';
  }

  #call(wire: Calls, method: EngineCall['method'], path: string): Promise<CallResult> {
    return wire.call({ method, path, headers: { authorization: this.#authorization }, body: undefined });
  }
}

/** An id goes into a path. */
const ID = /^[\w-]{1,64}$/;

/** `undefined` for what is not ours. */
function listedOf(value: unknown): Listed | undefined {
  if (!isJsonObject(value)) return undefined;
  const { glossary_id: id, name, ready, creation_time: made } = value;
  if (typeof id !== 'string' || !ID.test(id) || typeof name !== 'string' || teamInName(name) === undefined) return undefined;
  const madeAtMs = typeof made === 'string' ? Date.parse(made) : NaN;
  // Without a time it is never removed for its age.
  return { id, name, ready: ready !== false, madeAtMs: Number.isNaN(madeAtMs) ? Infinity : madeAtMs };
}

/** Statuses by which DeepL says that it does not take this dictionary, or no more of them. */
const REFUSED: readonly number[] = [400, 413, 422];
/** The quota is exhausted. */
export const QUOTA_EXCEEDED = 456;

function judgeMade(result: EngineResponse | AttemptFailure, name: string): Listed | AttemptFailure {
  if (typeof result === 'string') return result;
  if (REFUSED.includes(result.status)) return 'glossary_refused';
  if (result.status === QUOTA_EXCEEDED) return 'engine_quota';
  if (result.status !== 201 && result.status !== 200) return 'status';
  const read = jsonObjectOf({ ...result, status: 200 });
  if (typeof read === 'string') return read;
  return listedOf({ ...read, name }) ?? 'wrong_shape';
}

/** DeepL's limits: UTF-8 bytes of a term or translation, and of a dictionary as TSV. */
const PHRASE_BYTES_MAX = 1024;
const DICTIONARY_BYTES_MAX = 10 * 1024 * 1024;
/** Control characters, line separators, and white space at either end. */
const UNFIT = /[\p{Cc}\u2028\u2029]|^\s|\s$/u;
/** Characters of one piece of a body. */
const PIECE_CHARACTERS = 65_536;

/** Dictionaries never change: the digest of the entries; `undefined` beyond the limits. */
const digests = new WeakMap<EngineGlossary, Promise<string | undefined>>();

/** Our names: team, pair of base codes, digest of the entries. Nothing else there is ours. */
const NAME = /^lingate ([0-7][0-9A-HJKMNP-TV-Z]{25}) [a-z]{2,3}-[a-z]{2,3} [0-9a-f]{64}$/;

/** The team of a name of ours; `undefined` for any other name. */
function teamInName(name: string): string | undefined {
  return NAME.exec(name)?.[1];
}

/** The work's dictionary; `undefined` beyond the limits, or with the same language twice. */
export async function nameOf(
  teamId: string,
  glossary: EngineGlossary,
  { sourceLang = '', targetLang }: TranslationOptions,
): Promise<string | undefined> {
  const [source, target] = [glossaryCode(sourceLang), glossaryCode(targetLang)];
  if (source === target || source === '') return undefined;
  let digest = digests.get(glossary);
  if (digest === undefined) digests.set(glossary, (digest = digestOf(glossary)));
  const found = await digest;
  return found === undefined ? undefined : `lingate ${teamId} ${source}-${target} ${found}`;
}

/** Whether DeepL can keep the dictionary at all. */
export async function fitsDeepL(glossary: EngineGlossary, options: TranslationOptions): Promise<boolean> {
  return (await nameOf('', glossary, options)) !== undefined;
}

/** Dictionaries are stored by base codes: one for EN serves EN-GB and EN-US. */
function glossaryCode(code: string): string {
  return baseCode(code).toLowerCase();
}

async function digestOf(glossary: EngineGlossary): Promise<string | undefined> {
  const hash = createHash('sha256');
  let bytes = 0;
  let fits = true;
  await eachEntry(glossary, nextTurn, (term, translation) => {
    const line = `${term}\t${translation}\n`;
    bytes += Buffer.byteLength(line);
    fits &&= isFit(term) && isFit(translation);
    hash.update(line);
  });
  return fits && bytes > 0 && bytes <= DICTIONARY_BYTES_MAX ? hash.digest('hex') : undefined;
}

function isFit(phrase: string): boolean {
  return phrase !== '' && !UNFIT.test(phrase) && Buffer.byteLength(phrase) <= PHRASE_BYTES_MAX;
}

/** The call that makes a dictionary under this name; its body in pieces, because it may be long. */
export async function creationCall(name: string, { options }: EngineWork, authorization: string): Promise<EngineCall> {
  const { sourceLang = '', targetLang, glossary } = options;
  const members = JSON.stringify({
    name,
    source_lang: glossaryCode(sourceLang),
    target_lang: glossaryCode(targetLang),
    entries_format: 'tsv',
  });
  const pieces: Buffer[] = [];
  let text = `${members.slice(0, -1)},"entries":"`;
  await eachEntry(glossary!, nextTurn, (term, translation) => {
    text += JSON.stringify(`${term}\t${translation}\n`).slice(1, -1);
    if (text.length < PIECE_CHARACTERS) return;
    pieces.push(Buffer.from(text));
    text = '';
  });
  pieces.push(Buffer.from(`${text}"}`));
  const headers = { 'content-type': 'application/json', authorization };
  return { method: 'POST', path: '/v2/glossaries', headers, body: undefined, pieces };
}
