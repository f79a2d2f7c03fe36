// One gateway process: the real chains, key cache and settlement queue, on a simulated store and engine.
import type { Cancellation, Exchange, Handed, Sink } from '../../../src/core/exchange.ts';
import { Gateway } from '../../../src/core/gateway.ts';
import { Router } from '../../../src/core/router.ts';
import type { AccessEntry } from '../../../src/ports/access-entry.ts';
import type { TranslateOptions } from '../../../src/steps/translate.ts';
import type { FullWindows } from '../../../src/ports/key-directory.ts';
import type { Ledger, Resolution, Settlements } from '../../../src/ports/ledger.ts';
import { KnownFullWindows } from '../../../src/runtime/refusals.ts';
import { SettlementQueue } from '../../../src/runtime/settlement-queue.ts';
import type { Answer, Intent } from './history.ts';
import { ulidOf } from './keys.ts';
import type { DrawnRequest } from './requests.ts';
import { SILENT } from '../../support/silent-log.ts';
import type { Process } from './virtual-time.ts';
import type { RedisWiring } from './redis-wiring.ts';
import type { StoreClient, World } from './world.ts';
import type { RouteSpec } from '../../../src/core/route.ts';
import type { BodyStep } from '../../../src/core/pipeline.ts';
import { traceparentForward } from '../../../src/domain/request-trace.ts';
import { spareCharacters } from '../../../src/domain/slots.ts';
import { clientAddressReader } from '../../../src/domain/client-address.ts';
import { credentialReader } from '../../../src/domain/api-key.ts';
import { languagesEndpoint } from '../../../src/endpoints/read-endpoints.ts';
import { LruKeyCache } from '../../../src/runtime/key-cache.ts';
import { accessLogStep } from '../../../src/steps/access-log.ts';
import { admitStep } from '../../../src/steps/admit.ts';
import { authenticateStep, identifyStep } from '../../../src/steps/caller.ts';
import { readStep, translateStep } from '../../../src/steps/translate.ts';
import { sparedOf } from './history.ts';
import { SCOPE_OF } from './key-limits.ts';
import { LANGUAGES } from './requests.ts';
import { offersOver } from '../../support/offers.ts';
import { ONLY_ENGINE } from '../../../src/domain/engine-routing.ts';
import { Batches } from '../../../src/engines/batch.ts';
import type { Attempts } from '../../../src/engines/batch.ts';
import type { Replica } from '../../../src/engines/replica.ts';
import type { Attempt, AttemptFailure, EngineResult, EngineWork } from '../../../src/ports/engine.ts';
import type { Refusal, Reply } from '../../../src/core/outcome.ts';

interface CallerEndTerms {
  readonly world: World;
  readonly process: Process;
  readonly gateway: Gateway;
  readonly intent: Intent;
  /** The answer cannot be written, which is a bug of a plugin. */
  readonly broken: boolean;
}

/** What a listener does for a request. */
class CallerEnd implements Sink {
  /** Nobody is too slow: callers who are silent are a case of their own. */
  readonly receivedBytes = Infinity;
  readonly #terms: CallerEndTerms;

  constructor(terms: CallerEndTerms) {
    this.#terms = terms;
  }

  send(x: Exchange, outcome: Reply | Refusal): Handed {
    const { broken, process, world } = this.#terms;
    if (broken && outcome.kind === 'reply') throw new Error('an answer that cannot be written');
    const answer = answerOf(outcome, world.time.nowMs);
    world.note(process, `${x.id} is answered ${answer.status} ${answer.code}`);
    world.history.need(x.id).answers.push(answer);
    return 'written';
  }

  /** No route here streams. */
  stream(): void {
    throw new Error('an answer in pieces');
  }

  remoteAddress(): string {
    return this.#terms.intent.address;
  }

  incoming(): undefined {
    return undefined;
  }

  /** The caller closes the connection. */
  leave(x: Exchange): void {
    this.#terms.gateway.abort(x);
  }
}

const NOTHING_SAID = { billedCharacters: undefined, translations: undefined };

function answerOf(outcome: Reply | Refusal, atMs: number): Answer {
  if (outcome.kind === 'problem') {
    const { code, kind } = outcome.problem;
    return { ...NOTHING_SAID, atMs, status: kind.status, code };
  }
  const answer = { ...NOTHING_SAID, atMs, status: outcome.status, code: 'ok' };
  if (outcome.body === '') return answer;
  const body = JSON.parse(String(outcome.body)) as Partial<Translated>;
  return { ...answer, billedCharacters: body.billed_characters, translations: body.translations?.map(({ text }) => text) };
}

interface Translated {
  readonly billed_characters: number;
  readonly translations: readonly { readonly text: string }[];
}

/** Small, so that some calls are full, and some works too long to share one. */
const TEXTS_MAX = 6;
const CHARACTERS_MAX = 60;
const FAILURES = ['connect', 'reset', 'timeout', 'status', 'wrong_shape'] as const;
/** Only a balancer would read it. */
const REPLICA = {} as Replica;

const noFile = async () => ({ failure: 'internal' }) as const;

function simulatedEngine(world: World): TranslateOptions['engine'] {
  const attempts = simulatedAttempts(world);
  const one = { isFailing: () => false, cannotDetect: () => false, takesGlossary: () => true, formats: () => [], translateFile: noFile };
  const rest = { of: () => one };
  const { batchWaitMs: waitMs } = world.scenario;
  if (waitMs === undefined) return { ...rest, translate: (asked, cancellation) => attempts.alone(asked, cancellation) };
  const batches = new Batches(attempts, { texts_max: TEXTS_MAX, characters_max: CHARACTERS_MAX, wait_ms: waitMs }, (requests) => {
    world.batches++;
    world.note(world.time.current, `${requests} requests share a call`);
  });
  return { ...rest, translate: (asked, cancellation) => batches.translate(asked, cancellation) };
}

/** Two attempts, each within the timeout: what the pool guarantees of every adapter. */
function simulatedAttempts(world: World): Attempts {
  const attempt = (work: EngineWork, cancellation: Cancellation) => attemptOf(world, work, cancellation);
  const second = async (work: EngineWork, cancellation: Cancellation, failure: AttemptFailure): Promise<EngineResult> => {
    if (cancellation.cancelled) return { kind: 'unavailable', failures: [failure] };
    const again = await attempt(work, cancellation);
    return again.kind === 'usable'
      ? { ...again, failures: [failure], engine: ONLY_ENGINE }
      : { kind: 'unavailable', failures: [failure, again.failure] };
  };
  const both = async (work: EngineWork, cancellation: Cancellation): Promise<EngineResult> => {
    const first = await attempt(work, cancellation);
    return first.kind === 'usable' ? { ...first, failures: [], engine: ONLY_ENGINE } : second(work, cancellation, first.failure);
  };
  const translate = (work: EngineWork, cancellation: Cancellation): EngineResult | Promise<EngineResult> => {
    if (cancellation.cancelled) return { kind: 'unavailable', failures: [] };
    return world.random.chance(0.05) ? { ...usable(work), failures: [], engine: ONLY_ENGINE } : both(work, cancellation);
  };
  return {
    name: ONLY_ENGINE,
    first: (work, cancellation, done) => tell(attempt(work, cancellation), (first) => done(first, REPLICA, true)),
    second: (asked, cancellation, { failure }) => tell(second(asked, cancellation, failure), (result) => asked.answered(result)),
    alone: (asked, cancellation) => tell(translate(asked, cancellation), (result) => asked.answered(result)),
  };
}

/** Nothing here rejects. */
function tell<Reported>(reply: Reported | Promise<Reported>, done: (reply: Reported) => void): void {
  void (async () => done(await reply))();
}

function attemptOf(world: World, work: EngineWork, cancellation: Cancellation): Promise<Attempt> {
  const { random, scenario, time } = world;
  const process = time.current;
  return new Promise((resolve) => {
    let ended = false;
    const end = (attempt: Attempt): void => {
      if (ended) return;
      ended = true;
      cancellation.onCancel(undefined);
      resolve(attempt);
    };
    const result: Attempt = random.chance(0.25) ? { kind: 'unusable', failure: random.pick(FAILURES) } : usable(work);
    const delayed = result.kind === 'unusable' && result.failure === 'timeout';
    const takesMs = delayed ? scenario.engineTimeoutMs : Math.min(random.latencyMs(scenario.engineLatencyMs), scenario.engineTimeoutMs);
    time.after(process, takesMs, () => end(result));
    // A result may still arrive after the call was aborted.
    cancellation.onCancel(() => {
      const called: Attempt = random.chance(0.3) ? usable(work) : { kind: 'unusable', failure: 'cancelled' };
      time.after(process, random.pick([0, 0.5, 100]), () => end(called));
    });
  });
}

function usable(work: EngineWork): Attempt & { readonly kind: 'usable' } {
  const translations = work.text.map((text) => ({ text: text.toUpperCase(), detectedSourceLanguage: undefined }));
  return { kind: 'usable', translations };
}

const offers = { current: offersOver(LANGUAGES) };

const KEYS_MAX = 4;
const BODY_BYTES_MAX = 4096;

interface RouteParts {
  readonly world: World;
  readonly client: StoreClient;
  readonly engine: TranslateOptions['engine'];
  readonly settlements: Settlements;
  readonly full: FullWindows;
  readonly log: (entry: AccessEntry) => void;
}

function simulatedRoutes({ world, client, engine, settlements, full, log: record }: RouteParts) {
  const { scenario } = world;
  const now = () => performance.now();
  const cache = new LruKeyCache({ directory: client.keys, keysMax: KEYS_MAX, now, onLookup: () => undefined });
  const log = accessLogStep({ logs: [], written: { record }, quietPaths: new Set(), now });
  const addresses = clientAddressReader([], 'x-forwarded-for');
  const known = [
    log,
    identifyStep(credentialReader(['Vendor-Auth-Key']), cache),
    authenticateStep({ cache, ledger: client.ledger, full, rateLimitHeaders: false, now, client: addresses, onRefused: () => undefined }),
  ];
  const admit = admitStep({
    ledger: client.ledger,
    settlements,
    full,
    cache,
    client: addresses,
    leaseMs: scenario.leaseMs,
    tagsMax: scenario.tags?.distinctMax ?? 1000,
    rateLimitHeaders: scenario.requests % 2 === 0,
    now,
    offers,
    onAdmission: () => undefined,
    onUnavailable: () => undefined,
  });
  const translate = translateStep({
    engine,
    glossaries: { dictionary: () => undefined, merged: async () => undefined },
    offers,
    now,
    stages: [],
    onFailures: () => undefined,
    passTraceparent: traceparentForward,
  });
  const spare: BodyStep = {
    kind: 'body',
    name: 'spare',
    run(x) {
      spareCharacters(x, sparedOf(world.history.need(x.id).intent));
      return undefined;
    },
  };
  const languages = languagesEndpoint(() => LANGUAGES);
  const read = readStep(offers, BODY_BYTES_MAX);
  const routes: RouteSpec[] = [
    { method: 'POST', path: '/v1/translate', scope: SCOPE_OF.translate, takesBody: true, steps: [...known, read, admit, spare, translate] },
    { method: 'GET', path: '/v1/languages', scope: SCOPE_OF.languages, takesBody: false, steps: [...known, admit, languages] },
  ];
  return { routes, around: [log] };
}

/** How long a clean stop waits for verdicts that the store has not acknowledged: as the application does. */
const SETTLE_WAIT_MS = 5000;

/** Fewer than there are keys in some runs. */
const FULL_WINDOWS_MAX = 3;

/** A request in flight, and its caller's side. */
export interface Begun {
  readonly x: Exchange;
  readonly end: CallerEnd;
}

export class SimulatedGateway {
  readonly process: Process;
  readonly gateway: Gateway;
  readonly client: StoreClient;
  serving = true;
  readonly #world: World;
  readonly #settlements: SettlementQueue;
  readonly #full = new KnownFullWindows({ keysMax: FULL_WINDOWS_MAX, now: () => performance.now() });
  readonly #engine: TranslateOptions['engine'];
  /** Of the request that is being started. */
  #intent: Intent | undefined;

  /** Run it as its own process: what it starts must die with it. */
  constructor(world: World, store: RedisWiring, process: Process) {
    this.#world = world;
    this.process = process;
    this.client = store.connect(process);
    this.#settlements = new SettlementQueue({
      ledger: this.#watched(this.client.ledger),
      now: () => performance.now(),
      nowMs: () => Date.now(),
      log: SILENT,
      leaseMs: world.scenario.leaseMs,
      onSettled: () => undefined,
    });
    this.#engine = simulatedEngine(world);
    const { client } = this;
    const log = (entry: AccessEntry): void => this.#log(entry);
    const { routes, around } = simulatedRoutes({
      world,
      client,
      engine: this.#engine,
      settlements: this.#settlements,
      full: this.#watchedFull(store),
      log,
    });
    this.gateway = new Gateway({
      router: new Router(routes, around),
      around,
      newId: () => this.#newRequest(),
      now: () => performance.now(),
      requestMs: world.scenario.requestMs,
      reportBug: (x, where) => {
        world.note(this.process, `bug of ${x.id} in ${where}`);
        if (where !== 'send') world.history.bugs.push(where);
      },
    });
  }

  get busy(): number {
    return this.gateway.inFlight + this.#settlements.open;
  }

  begin({ head, intent }: DrawnRequest, broken: boolean): Begun {
    this.#intent = intent;
    const end = new CallerEnd({ world: this.#world, process: this.process, gateway: this.gateway, intent, broken });
    return { x: this.gateway.begin(head, end), end };
  }

  /** As at SIGTERM: requests in flight end, verdicts are delivered, everything is closed. */
  async stop(): Promise<void> {
    await this.gateway.idle();
    this.gateway.close();
    const { promise: delayed, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, SETTLE_WAIT_MS);
    await Promise.race([this.#settlements.drained(), delayed]);
    clearTimeout(timer);
    this.#settlements.close();
    await this.client.close();
  }

  /** An operator has changed a team or a key by its admin API. */
  teamsChanged(): void {
    this.#full.drop();
    this.#world.journal.dropped(this.process, this.#world.time.nowMs);
  }

  crash(): void {
    this.serving = false;
    this.process.alive = false;
  }

  #watched(ledger: Ledger): Pick<Ledger, 'resolve'> {
    const { history, time } = this.#world;
    return {
      resolve: (asked) => {
        const { teamId, requestId, verdict, characters } = asked;
        const answered = (resolution: Resolution): void => {
          this.#world.note(this.process, `${verdict} of ${requestId}: ${resolution.kind}`);
          if (resolution.kind === 'committed') history.need(requestId).committedAtMs ??= time.nowMs;
          asked.answered(resolution);
        };
        ledger.resolve({ teamId, requestId, verdict, characters, answered, failed: (error) => asked.failed(error) });
      },
    };
  }

  /** What is answered without the store is checked against what the store has done. */
  #watchedFull(store: RedisWiring): FullWindows {
    const full = this.#full;
    const { journal, time } = this.#world;
    return {
      get isEmpty() {
        return full.isEmpty;
      },
      note: (caller, refused, askedAtMs) => full.note(caller, refused, askedAtMs),
      refusal: (caller) => {
        const refused = full.refusal(caller);
        if (refused === undefined) return undefined;
        this.#world.note(this.process, `refuses ${caller.keyId} by itself: ${JSON.stringify(refused)}`);
        journal.repeated(
          { ...caller, gateway: this.process, refused },
          time.nowMs,
          time.wallMs(store.process),
          store.accountOf(caller.keyId),
        );
        return refused;
      },
    };
  }

  #log({ requestId, code, characters }: AccessEntry): void {
    this.#world.history.need(requestId).logged.push({ code, characters });
  }

  /** A request is recorded from the moment it has an id: it may be answered before `begin` returns. */
  #newRequest(): string {
    const { history, random, time } = this.#world;
    const id = ulidOf(random);
    const intent = this.#intent;
    if (intent === undefined) throw new Error('a request that nobody sent');
    const unknown = { leftAtMs: undefined, committedAtMs: undefined, excuse: undefined };
    history.begin({ id, intent, gateway: this.process, sentAtMs: time.nowMs, answers: [], logged: [], ...unknown });
    this.#world.note(this.process, `${id} begins: ${JSON.stringify(intent)}`);
    return id;
  }
}
