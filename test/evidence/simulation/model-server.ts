// A Redis server as the gateways' driver sees it: speaks the functions' protocol, keeps its accounts in the reference model.
import { FOLLOWED_STEP_MS } from '../../../src/domain/clock-judge.ts';
import type { Admission, Resolution } from '../../../src/ports/ledger.ts';
import type { PluginStore } from '../../../src/ports/plugin.ts';
import { Account } from '../../support/reference/account.ts';
import { ReferenceData, referenceStore } from '../../support/reference-store.ts';
import type { Action } from './deeds.ts';
import { actionOf, perform } from './change.ts';
import { answerOf, overdueReply, readLedgerCall, writeReply } from './ledger-protocol.ts';
import type { LedgerGroup, LedgerOperation } from './ledger-protocol.ts';
import { newProcess } from './virtual-time.ts';
import type { Process } from './virtual-time.ts';
import type { Change, World } from './world.ts';

/** Both run the same call; a full server runs only the second. */
export const LEDGER_FUNCTIONS: readonly string[] = ['turn', 'settle'];

/** How far gateways may be from the right time, which has not jumped: what they measure of a wrong clock is delayed with the replies. */
const CORRECTED_WITHIN_MS = 500;

export type Message =
  | { readonly kind: 'function'; readonly name: string; readonly keys: readonly string[]; readonly args: readonly (string | Buffer)[] }
  | { readonly kind: 'get'; readonly key: string };

interface Write {
  readonly atMs: number;
  readonly storeMs: number;
  /** Some changes take several promises, all of which settle before the next event. */
  readonly run: (store: PluginStore) => unknown;
}

export class ModelServer {
  readonly process: Process = newProcess('store');
  /** Increases with every start: a connection to an earlier one is broken. */
  generation = 1;
  up = true;
  /** How far its clock is wrong, which gateways must notice; all else here goes by the right time. */
  wrongByMs = 0;
  readonly #world: World;
  readonly #clock = { ms: 0, nowMs: () => this.#clock.ms };
  #data: ReferenceData = new ReferenceData();
  #store: PluginStore = referenceStore(this.#clock, this.#data);
  /** Everything that was ever written, so that a replica can be made that lacks the last of it. */
  #writes: Write[] = [];

  constructor(world: World) {
    this.#world = world;
  }

  get storeMs(): number {
    return this.#world.time.wallMs(this.process);
  }

  accountOf(keyId: string): Account | undefined {
    const whole = this.#data.accounts.map((account) => account.whole()).find(({ keys }) => keys.some((key) => key.keyId === keyId));
    return whole && Account.from(whole, whole.period!, () => undefined);
  }

  change(change: Change): void {
    void this.#write((store) => perform(store, change));
    const limits =
      change.kind === 'update_team' ? this.#data.accounts.find(({ team }) => team.teamId === change.teamId)?.team.limits : undefined;
    const [teamId, action] = actionOf(change, limits);
    this.#enter(teamId, action, this.storeMs);
  }

  /** Down: everything that arrives is lost. `lostMs`: what was done in this many last milliseconds never happened. */
  stop(lostMs: number): void {
    this.up = false;
    this.generation++;
    if (lostMs === 0) return;
    const lastMs = this.#world.time.nowMs - lostMs;
    this.#writes = this.#writes.filter((write) => write.atMs <= lastMs);
    this.#data = new ReferenceData();
    this.#store = referenceStore(this.#clock, this.#data);
    this.#world.journal.loseAfter(lastMs, this.#world.time.nowMs);
    void this.#repeatWrites();
  }

  async #repeatWrites(): Promise<void> {
    for (const { storeMs, run } of this.#writes) {
      this.#clock.ms = storeMs;
      await run(this.#store);
    }
  }

  start(clockByMs: number): void {
    this.up = true;
    this.setClock(clockByMs);
  }

  setClock(byMs: number): void {
    if (byMs === 0) return;
    this.process.clockOffByMs += byMs;
    this.#world.journal.clockChangedAtMs = this.#world.time.nowMs;
  }

  /** The reply to a message. `givenUpAtMs` is when its sender will have stopped waiting, in true time. */
  answer(message: Message, givenUpAtMs: number): unknown {
    if (message.kind === 'get') {
      const owner = this.#data.owners.find(({ digest }) => message.key.endsWith(`:${digest}`))?.owner;
      return owner === undefined ? null : JSON.stringify(owner);
    }
    if (!LEDGER_FUNCTIONS.includes(message.name)) throw new Error(`function ${message.name} is not simulated`);
    const { clockMs, correctionMs, deadlineMs, groups } = readLedgerCall(message.keys, String(message.args[0]));
    const nowMs = clockMs ?? this.storeMs + this.wrongByMs + correctionMs;
    if (nowMs > deadlineMs || deadlineMs - nowMs > FOLLOWED_STEP_MS) return overdueReply(nowMs);
    if (this.#world.journal.clockChangedAtMs < 0 && Math.abs(nowMs - this.storeMs) > CORRECTED_WITHIN_MS)
      this.#world.violate('clock', `a call is at ${nowMs}, and the right time is ${this.storeMs}`);
    return writeReply(
      nowMs,
      groups.map((group) => this.#work(group, nowMs, givenUpAtMs)),
    );
  }

  #work({ operations, teamId }: LedgerGroup, nowMs: number, givenUpAtMs: number): object[] {
    const overdueMs = this.#world.time.nowMs - givenUpAtMs;
    return operations.map((operation) => {
      // The store's clock is read in whole milliseconds.
      if (overdueMs > 1 && this.#world.journal.clockChangedAtMs < givenUpAtMs - 10_000) {
        this.#world.violate('deadline', `${operation.requestId} was run ${overdueMs.toFixed(1)} ms after its caller had given up`);
      }
      return answerOf(this.#operate(teamId, operation, nowMs));
    });
  }

  #operate(teamId: string, operation: LedgerOperation, nowMs: number): Admission | Resolution {
    const { requestId } = operation;
    if (operation.kind === 'admit') {
      const { request } = operation;
      const answer = this.#write((store) => store.ledger.admit(request), nowMs) as Admission;
      this.#enter(teamId, { kind: 'admit', request, answer }, nowMs);
      return answer;
    }
    const { verdict, characters } = operation;
    const answer = this.#write((store) => store.ledger.resolve(teamId, requestId, verdict, characters), nowMs) as Resolution;
    this.#enter(teamId, { kind: 'resolve', requestId, verdict, characters, answer }, nowMs);
    return answer;
  }

  #write<T>(run: (store: PluginStore) => T, storeMs = this.storeMs): T {
    this.#clock.ms = storeMs;
    this.#writes.push({ atMs: this.#world.time.nowMs, storeMs, run });
    return run(this.#store);
  }

  #enter(teamId: string, action: Action, storeMs: number): void {
    const { journal, time } = this.#world;
    journal.add(time.nowMs, storeMs, teamId, action);
    this.#world.note(this.process, JSON.stringify(action));
  }
}
