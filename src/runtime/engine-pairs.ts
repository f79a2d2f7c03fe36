// Which pairs one engine offers: all, those that the operator lists, or those that its replicas tell, which are asked again and again.
import type { LanguageTable, PairTest } from '../domain/languages.ts';
import { pairsOfList } from '../domain/pair-list.ts';
import type { ReplicaPairs } from '../ports/engine.ts';
import type { Log } from '../ports/log.ts';

/** `any`: every pair of the list. `ask`: those that the engine tells. Or those that are written here. */
export type PairsMode = 'any' | 'ask' | readonly string[];

export interface EnginePairsOptions {
  /** Name of the engine. */
  readonly engine: string;
  readonly table: LanguageTable;
  readonly pairs: PairsMode;
  /** Asks every replica, in bounded time; never rejects. `undefined` for an engine that cannot tell: then `ask` is `any`. */
  readonly ask: (() => Promise<readonly ReplicaPairs[]>) | undefined;
  /** Told when its replicas offer something else than before. */
  readonly onChange: () => void;
  readonly log: Log;
  /** Runs something later, and returns how to call it off; tests move time themselves. */
  readonly later?: (run: () => void, ms: number) => () => void;
}

const ASK_EVERY_MS = 600_000;
/** A replica that did not answer is asked again sooner: it may be starting. Doubled each time. */
const ASK_AGAIN_MS = 5000;
const LOGGED_PAIRS_MAX = 50;

export class EnginePairs {
  /** `undefined`: all of the list. */
  test: PairTest | undefined;
  readonly #options: EnginePairsOptions;
  readonly #later: (run: () => void, ms: number) => () => void;
  #table: LanguageTable;
  #pairs: PairsMode;
  /** The last good answer of each replica, by its URL. */
  readonly #told = new Map<string, PairTest>();
  /** Replicas that did not answer when they were asked last. */
  readonly #silent = new Set<string>();
  /** What is offered by the answers of replicas, as it was logged. */
  #logged: string | undefined = undefined;
  #againMs = ASK_AGAIN_MS;
  /** Counts the questions: only the answer to the last one counts. */
  #asked = 0;
  #closed = false;
  #callOff = (): void => undefined;

  constructor(options: EnginePairsOptions) {
    this.#options = options;
    this.#later = options.later ?? laterBy;
    this.#table = options.table;
    this.#pairs = options.pairs;
    this.test = this.#made();
    this.ask();
  }

  /** What the configuration says from now on; the engine is asked anew. */
  replace(table: LanguageTable, pairs: PairsMode): void {
    this.#table = table;
    this.#pairs = pairs;
    this.test = this.#made();
    this.ask();
  }

  /** Asks all replicas, if that is what is wanted. Nobody waits for it. */
  ask(): void {
    const { ask } = this.#options;
    if (this.#pairs !== 'ask' || ask === undefined || this.#closed) return;
    this.#callOff();
    // A question may still be under way; its replicas may be others.
    const question = ++this.#asked;
    void ask().then((answers) => question === this.#asked && this.#answered(answers));
  }

  close(): void {
    this.#closed = true;
    this.#callOff();
  }

  #answered(answers: readonly ReplicaPairs[]): void {
    if (this.#closed) return;
    for (const answer of answers) this.#take(answer);
    for (const url of this.#told.keys()) if (!answers.some((answer) => answer.url === url)) this.#told.delete(url);
    for (const url of this.#silent) if (!answers.some((answer) => answer.url === url)) this.#silent.delete(url);
    this.#renew();
    this.#callOff = this.#later(() => this.ask(), this.#pauseMs());
  }

  #pauseMs(): number {
    const againMs = Math.min(this.#againMs, ASK_EVERY_MS);
    this.#againMs = this.#silent.size === 0 ? ASK_AGAIN_MS : againMs * 2;
    return this.#silent.size === 0 ? ASK_EVERY_MS : againMs;
  }

  /** An answer without a single pair of ours is not believed: an engine that is loading its models would close the service. */
  #take({ url, pairs }: ReplicaPairs): void {
    const failure = typeof pairs === 'string' ? pairs : this.#pairsOf([pairs]).length === 0 ? 'no_pair_of_ours' : undefined;
    if (failure === undefined) {
      this.#silent.delete(url);
      this.#told.set(url, pairs as PairTest);
      return;
    }
    if (!this.#silent.has(url))
      this.#options.log.warn('an engine replica did not tell its pairs: what was known stays', {
        engine: this.#options.engine,
        replica: url,
        failure,
      });
    this.#silent.add(url);
  }

  /** Keeps the list as it is while nothing has changed. */
  #renew(): void {
    const pairs = this.#pairsOf([...this.#told.values()]);
    const key = pairs.join(' ');
    if (this.#pairs !== 'ask' || pairs.length === 0 || key === this.#logged) return;
    this.#logged = key;
    this.test = this.#made();
    this.#options.onChange();
    const shown = pairs.slice(0, LOGGED_PAIRS_MAX).join(' ') + (pairs.length > LOGGED_PAIRS_MAX ? ' …' : '');
    this.#options.log.info('the pairs that the engine offers have changed', {
      engine: this.#options.engine,
      count: pairs.length,
      pairs: shown,
    });
  }

  #made(): PairTest | undefined {
    if (this.#pairs === 'any') return undefined;
    if (this.#pairs !== 'ask') return pairsOfList(this.#pairs, this.#table);
    const told = [...this.#told.values()];
    // Nothing is known yet, or nothing that fits another list of languages.
    return this.#pairsOf(told).length === 0 ? undefined : anyOf(told);
  }

  #pairsOf(told: readonly PairTest[]): string[] {
    const { sources, targets } = this.#table;
    const offers = anyOf(told);
    return sources.flatMap(({ code }) => targets.filter((target) => offers(code, target.code)).map((target) => `${code}-${target.code}`));
  }
}

/** A pair that any replica has can be served: a second attempt goes to another one. */
function anyOf(told: readonly PairTest[]): PairTest {
  return (sourceLang, targetLang) => told.some((offers) => offers(sourceLang, targetLang));
}

function laterBy(run: () => void, ms: number): () => void {
  const timer = setTimeout(run, ms).unref();
  return () => clearTimeout(timer);
}
