// One gateway process: the chain, the key cache and the settlement queue as they are, on a simulated store and engine.
import type { Exchange, RequestHead, Sink } from '../../../src/core/exchange.ts';
import { Gateway } from '../../../src/core/gateway.ts';
import { problems } from '../../../src/core/problem.ts';
import type { Refusal, Reply } from '../../../src/core/outcome.ts';
import { Router } from '../../../src/core/router.ts';
import { credentialReader } from '../../../src/domain/credentials.ts';
import { languagesEndpoint } from '../../../src/endpoints/languages.ts';
import type { AccessEntry } from '../../../src/ports/access-log.ts';
import type { Ledger } from '../../../src/ports/ledger.ts';
import { accessLogStep } from '../../../src/steps/access-log.ts';
import { admitStep } from '../../../src/steps/admit.ts';
import { authenticateStep } from '../../../src/steps/authenticate.ts';
import { identifyStep } from '../../../src/steps/identify.ts';
import { readStep } from '../../../src/steps/read.ts';
import { translateStep } from '../../../src/steps/translate.ts';
import { LruKeyCache } from '../../../src/runtime/key-cache.ts';
import { SettlementQueue } from '../../../src/runtime/settlement-queue.ts';
import { simulatedEngine } from './engine.ts';
import type { Answer, Intent } from './history.ts';
import { ulidOf } from './keys.ts';
import { LANGUAGES } from './requests.ts';
import { SILENT } from './silent-log.ts';
import type { Process } from './virtual-time.ts';
import type { SimulatedStore, StoreClient, World } from './world.ts';

const KEYS_MAX = 4;
const BODY_BYTES_MAX = 4096;
/** How long an orderly stop waits for verdicts that the store has not acknowledged: as the application does. */
const SETTLE_WAIT_MS = 5000;

export class SimulatedGateway {
  readonly process: Process;
  readonly gateway: Gateway;
  readonly client: StoreClient;
  serving = true;
  readonly #world: World;
  readonly #settlements: SettlementQueue;
  /** Of the request that is being begun. */
  #intent: Intent | undefined;

  /** To be run as its own process: what it starts has to die with it. */
  constructor(world: World, store: SimulatedStore, process: Process) {
    this.#world = world;
    this.process = process;
    this.client = store.connect(process);
    this.#settlements = new SettlementQueue({
      ledger: this.#watched(this.client.ledger),
      now: () => performance.now(),
      log: SILENT,
      leaseMs: world.scenario.leaseMs,
      onSettled: () => undefined,
    });
    const { routes, around } = this.#routes();
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

  begin(head: RequestHead, intent: Intent, broken: boolean): Exchange {
    this.#intent = intent;
    const sink: Sink = {
      send: (x, outcome) => {
        if (broken && outcome.kind === 'reply') throw new Error('an answer that cannot be written');
        const answer = answerOf(outcome, this.#world.time.nowMs);
        this.#world.note(this.process, `${x.id} is answered ${answer.status} ${answer.code}`);
        this.#world.history.need(x.id).answers.push(answer);
      },
      stream: () => undefined,
      incoming: () => undefined,
    };
    return this.gateway.begin(head, sink);
  }

  /** As at SIGTERM: what is under way ends, verdicts are seen through, everything is closed. */
  async stop(): Promise<void> {
    await this.gateway.idle();
    this.gateway.close();
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, SETTLE_WAIT_MS);
    await Promise.race([this.#settlements.drained(), late]);
    clearTimeout(timer);
    this.#settlements.close();
    await this.client.close();
  }

  crash(): void {
    this.serving = false;
    this.process.alive = false;
  }

  #watched(ledger: Ledger): Ledger {
    const { history, time } = this.#world;
    return {
      admit: (request) => ledger.admit(request),
      resolve: async (teamId, requestId, verdict) => {
        const resolution = await ledger.resolve(teamId, requestId, verdict);
        this.#world.note(this.process, `${verdict} of ${requestId}: ${resolution.kind}`);
        if (resolution.kind === 'committed') history.need(requestId).committedAtMs ??= time.nowMs;
        return resolution;
      },
    };
  }

  #routes() {
    const { scenario } = this.#world;
    const now = () => performance.now();
    const cache = new LruKeyCache({ directory: this.client.keys, keysMax: KEYS_MAX, now, onLookup: () => undefined });
    const log = accessLogStep({ log: { record: (entry) => this.#log(entry) }, now });
    const identify = identifyStep(credentialReader(['Vendor-Auth-Key']), cache);
    const authenticate = authenticateStep({ directory: cache, now });
    const admit = admitStep({
      ledger: this.client.ledger,
      settlements: this.#settlements,
      cache,
      leaseMs: scenario.leaseMs,
      rateLimitHeaders: scenario.requests % 2 === 0,
      now,
      onAdmission: () => undefined,
    });
    const translate = translateStep({
      engine: simulatedEngine(this.#world),
      glossaries: { entries: () => undefined },
      languages: () => LANGUAGES,
      now,
      onEngineResult: () => undefined,
    });
    const languages = languagesEndpoint(() => LANGUAGES);
    const read = readStep(() => LANGUAGES, BODY_BYTES_MAX);
    const routes = [
      { method: 'POST', path: '/v1/translate', takesBody: true, steps: [log, identify, authenticate, read, admit, translate] },
      { method: 'GET', path: '/v1/languages', takesBody: false, steps: [log, identify, authenticate, admit, languages] },
    ];
    return { routes, around: [log] };
  }

  #log({ requestId, code, characters }: AccessEntry): void {
    this.#world.history.need(requestId).logged.push({ code, characters });
  }

  /** A request is on record from the moment it has an id: it may be answered before `begin` returns. */
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

function answerOf(outcome: Reply | Refusal, atMs: number): Answer {
  if (outcome.kind === 'problem') {
    const { code } = outcome.problem;
    return { atMs, status: problems[code].status, code, billedCharacters: undefined };
  }
  const body = JSON.parse(outcome.body) as { readonly billed_characters?: number };
  return { atMs, status: outcome.status, code: 'ok', billedCharacters: body.billed_characters };
}
