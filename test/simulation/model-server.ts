// A Redis server as the gateways' driver sees it: speaks the scripts' protocol, keeps its books in the reference model.
import type { Admission, AdmissionRequest, Resolution, Verdict } from '../../src/ports/ledger.ts';
import type { Store } from '../../src/ports/store.ts';
import type { ReferenceAccount } from '../model/reference-account.ts';
import { emptyBooks, referenceStore } from '../model/reference-store.ts';
import type { ReferenceBooks } from '../model/reference-store.ts';
import { unsound } from '../model/invariants.ts';
import type { Deed } from './entries.ts';
import { deedOf, perform } from './change.ts';
import { newProcess } from './virtual-time.ts';
import type { Process } from './virtual-time.ts';
import type { Change, World } from './world.ts';

export type Message =
  | { readonly kind: 'script'; readonly name: string; readonly keys: readonly string[]; readonly args: readonly string[] }
  | { readonly kind: 'get'; readonly key: string };

interface Write {
  readonly atMs: number;
  readonly storeMs: number;
  readonly run: (store: Store) => void;
}

const ARGS_HEAD = 6;

export class ModelServer {
  readonly process: Process = newProcess('store');
  /** Counts up with every start: a connection to an earlier one is broken. */
  generation = 1;
  up = true;
  readonly #world: World;
  readonly #clock = { ms: 0, nowMs: () => this.#clock.ms };
  #books: ReferenceBooks = emptyBooks();
  #store: Store = referenceStore(this.#clock, this.#books);
  /** All that was ever written, so that a replica can be made that has not heard of the last of it. */
  #writes: Write[] = [];
  readonly #periodEnds = new Map<string, number>();

  constructor(world: World) {
    this.#world = world;
  }

  get store(): Store {
    this.#clock.ms = this.storeMs;
    return this.#store;
  }

  get storeMs(): number {
    return this.#world.time.wallMs(this.process);
  }

  change(change: Change): void {
    this.#write((store) => void perform(store, change));
    const limits = change.kind === 'update_team' ? this.#account(change.teamId)?.team.limits : undefined;
    const [teamId, deed] = deedOf(change, limits);
    this.#enter(teamId, deed, this.storeMs);
  }

  /** Down: whatever comes is lost. `lostMs`: what was done in the last so many milliseconds is as if it had never been. */
  stop(lostMs: number): void {
    this.up = false;
    this.generation++;
    if (lostMs === 0) return;
    const lastMs = this.#world.time.nowMs - lostMs;
    this.#writes = this.#writes.filter((write) => write.atMs <= lastMs);
    this.#books = emptyBooks();
    this.#store = referenceStore(this.#clock, this.#books);
    for (const { storeMs, run } of this.#writes) {
      this.#clock.ms = storeMs;
      run(this.#store);
    }
    this.#periodEnds.clear();
    this.#world.journal.loseAfter(lastMs);
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

  /** The reply to a message. `givenUpAtMs` is when whoever sent it will have stopped waiting, in true time. */
  answer(message: Message, givenUpAtMs: number): unknown {
    if (message.kind === 'get') {
      const owner = this.#books.owners.find(({ digest }) => message.key.endsWith(`:${digest}`))?.owner;
      return owner === undefined ? null : JSON.stringify(owner);
    }
    const { keys, args } = message;
    const teamId = /\{(.+)\}/.exec(keys[0] ?? '')?.[1] ?? '';
    const nowMs = args[0] === '' ? this.storeMs : Number(args[0]);
    if (nowMs > Number(args[1])) return [nowMs, 'late'];
    const question = this.#periodQuestion(teamId, nowMs, args);
    if (question !== undefined) return question;
    const lateMs = this.#world.time.nowMs - givenUpAtMs;
    // The store's clock is read in whole milliseconds.
    if (lateMs > 1 && this.#world.journal.clockChangedAtMs < givenUpAtMs - 10_000) {
      this.#world.violate('deadline', `${message.name} ${args[ARGS_HEAD]} was run ${lateMs.toFixed(1)} ms after its caller had given up`);
    }
    if (message.name === 'admit') return this.#admit(teamId, nowMs, args);
    if (message.name === 'resolve') return this.#resolve(teamId, nowMs, args);
    throw new Error(`script ${message.name} is not simulated`);
  }

  /** Calendars are the driver's: it is asked for the bounds of a period that has begun. */
  #periodQuestion(teamId: string, nowMs: number, [, , startMs, endMs, period, createdMs]: readonly string[]): unknown {
    const account = this.#account(teamId);
    if (account === undefined || nowMs < (this.#periodEnds.get(teamId) ?? 0)) return undefined;
    const { createdAtMs, limits } = account.team;
    const fits = period === limits.period && Number(createdMs) === createdAtMs && nowMs >= Number(startMs) && nowMs < Number(endMs);
    return fits ? undefined : [nowMs, 'period', createdAtMs, limits.period];
  }

  #admit(teamId: string, nowMs: number, args: readonly string[]): unknown {
    const request = readRequest(teamId, args.slice(ARGS_HEAD));
    const answer = this.#write((store) => store.ledger.admit(request), nowMs) as Admission;
    this.#enter(teamId, { kind: 'admit', request, answer }, nowMs);
    const rate = 'rate' in answer && answer.rate !== undefined ? [[answer.rate.limit, answer.rate.remaining]] : [];
    return [nowMs, ...wordsOf(answer), ...rate];
  }

  #resolve(teamId: string, nowMs: number, args: readonly string[]): unknown {
    const [requestId, verdict] = args.slice(ARGS_HEAD) as [string, Verdict];
    const answer = this.#write((store) => store.ledger.resolve(teamId, requestId, verdict), nowMs) as Resolution;
    this.#enter(teamId, { kind: 'resolve', requestId, verdict, answer }, nowMs);
    return [nowMs, answer.kind];
  }

  #write<T>(run: (store: Store) => T, storeMs = this.storeMs): T {
    this.#clock.ms = storeMs;
    this.#writes.push({ atMs: this.#world.time.nowMs, storeMs, run });
    return run(this.#store);
  }

  #enter(teamId: string, deed: Deed, storeMs: number): void {
    const { journal, time } = this.#world;
    journal.add(time.nowMs, storeMs, teamId, deed);
    this.#world.note(this.process, JSON.stringify(deed));
    const account = this.#account(teamId);
    if (account === undefined) return;
    this.#periodEnds.set(teamId, account.usage(storeMs).periodEndMs);
    const fault = unsound(account.standing(storeMs));
    if (fault !== undefined) this.#world.violate('L3', fault);
  }

  #account(teamId: string): ReferenceAccount | undefined {
    return this.#books.accounts.find(({ team }) => team.teamId === teamId);
  }
}

function readRequest(teamId: string, args: readonly string[]): AdmissionRequest {
  const [requestId = '', keyId = '', characters = '', reserve, leaseMs, glossaryId = '', pair = '', reportRate] = args;
  const [sourceLang = '', targetLang = ''] = pair.split('|');
  return {
    requestId,
    teamId,
    keyId,
    characters: characters === '' ? undefined : Number(characters),
    reserve: reserve === '1',
    leaseMs: Number(leaseMs),
    glossary: glossaryId === '' ? undefined : { glossaryId, sourceLang, targetLang },
    reportRate: reportRate === '1',
  };
}

/** As the admission script says it; amounts of money in millionths. */
function wordsOf(answer: Admission): readonly unknown[] {
  switch (answer.kind) {
    case 'admitted':
      return answer.reservation === undefined ? ['admitted'] : ['admitted', answer.reservation.characters, answer.reservation.leaseUntilMs];
    case 'rate_limited':
      return ['rate_limited', answer.limit, answer.retryAfterMs];
    case 'text_too_long':
      return ['text_too_long', answer.maxCharacters];
    case 'quota_exceeded':
      return ['quota_exceeded', answer.characterLimit, answer.overageCapMinor, answer.periodEndMs];
    case 'credit_exhausted':
      return ['credit_exhausted', answer.balanceMinor * 1_000_000, answer.requiredMinor * 1_000_000, answer.currency];
    case 'unavailable':
      throw new Error('the model is always there');
    case 'repeated':
    case 'key_unknown':
    case 'key_revoked':
    case 'glossary_missing':
    case 'glossary_mismatch':
      return [answer.kind];
  }
}
