// What must hold when a run is over: each caller's record against the gateway's log and the server's answers.
import { chargeOf, delivered, endedAtMs } from './history.ts';
import type { RequestRecord } from './history.ts';
import type { Held } from './journal.ts';
import type { KeyRing } from './keys.ts';
import type { World } from './world.ts';

/** Deadlines are checked this often, and answers take a moment. */
const DEADLINE_SLACK_MS = 251;
/** Long enough for a retry of the queue, its answer and a second round; and for a verdict that needs no retry. */
const QUIET_FOR_RETRY_MS = 2300;
const QUIET_FOR_FIRST_MS = 450;
/** How long a step continues that was aborted while it waited. */
const STEP_MS_MAX = 700;
/** How long a key that was tried before it existed may count as unknown: remembered for a second after a delayed look-up. */
const UNKNOWN_MS_MAX = 1700;

export class FinalChecks {
  readonly #world: World;
  readonly #keys: KeyRing;

  constructor(world: World, keys: KeyRing) {
    this.#world = world;
    this.#keys = keys;
  }

  /** Before the longest leases end: only what a dead process had in flight may be left to its lease. */
  whileLeasesRun(): void {
    const { history, journal, violate } = this.#world;
    for (const [id, { state }] of journal.ids) {
      const record = history.need(id);
      const overAtMs = endedAtMs(record);
      if (state !== 'open' || overAtMs === undefined || record.excuse !== undefined) continue;
      // The ports say so: a 429 leaves no trace of its id, and a later copy of it is judged again.
      if (record.answers[0]?.code === 'rate_limited') continue;
      // A step that is waiting when the answer is given returns a little later, and settles then.
      if (this.#due(record, overAtMs + STEP_MS_MAX)) violate('L5', `${id} is still held although nothing of it was in flight`);
    }
  }

  requests(): void {
    const { bugs, requests } = this.#world.history;
    for (const bug of bugs) this.#world.violate('bug', bug);
    for (const record of requests.values()) {
      this.#answer(record);
      this.#log(record);
      this.#charge(record, this.#world.journal.ids.get(record.id));
      this.#key(record);
    }
  }

  /** Every caller gets one answer in time, unless the caller or the gateway left first. */
  #answer({ id, answers, gateway, intent, leftAtMs, sentAtMs, excuse }: RequestRecord): void {
    const { scenario, violate } = this.#world;
    const [answer] = answers;
    if (answers.length > 1) violate('answer', `${id} was answered ${answers.length} times`);
    if (answer === undefined) {
      if (leftAtMs === undefined && gateway.alive) violate('answer', `${id} was never answered`);
      return;
    }
    if (leftAtMs !== undefined) violate('answer', `${id} was answered after its caller had left`);
    const tookMs = answer.atMs - sentAtMs;
    if (excuse === undefined && tookMs > scenario.requestMs + DEADLINE_SLACK_MS)
      violate('deadline', `${id} was answered after ${tookMs} ms`);
    if (answer.status === 200 && intent.route === 'translate' && answer.billedCharacters !== chargeOf(intent)) {
      violate('L2', `${id}, to be charged ${chargeOf(intent)} characters, was billed ${answer.billedCharacters}`);
    }
    const expected = intent.text?.map((text) => text.toUpperCase());
    if (answer.translations !== undefined && answer.translations.join('\n') !== expected?.join('\n'))
      violate('answer', `${id} was given translations of something else`);
    if (answer.code === 'service_unavailable' && scenario.faults.length === 0) violate('answer', `${id} met no store on a quiet day`);
  }

  #log(record: RequestRecord): void {
    const { gateway, id, logged } = record;
    if (!gateway.alive && logged.length === 0) return;
    const line = logged[0];
    const code = record.answers[0]?.code ?? unansweredCode(record);
    const characters = delivered(record) === undefined ? 0 : chargeOf(record.intent);
    if (logged.length === 1 && line?.code === code && line.characters === characters) return;
    this.#world.violate('log', `${id}, which ended in ${code} for ${characters}, was logged as ${JSON.stringify(logged)}`);
  }

  /** L1 without exception; L2 unless the process or the store that had the request died, or the store was down for too long. */
  #charge(record: RequestRecord, state: Held | undefined): void {
    const { violate } = this.#world;
    const { id, excuse, intent } = record;
    const answer = delivered(record);
    const charged = state?.state === 'committed' ? state.characters : undefined;
    if (answer === undefined) {
      if (charged !== undefined) violate('L1', `${id} failed and was charged ${charged}`);
      return;
    }
    if (charged === chargeOf(intent)) return;
    if (charged !== undefined) return violate('L2', `${id}, to be charged ${chargeOf(intent)} characters, was charged ${charged}`);
    if (excuse === undefined && this.#due(record, answer.atMs)) violate('L2', `${id} was delivered and is ${state?.state ?? 'not known'}`);
  }

  /** Whether the store was reachable for long enough to settle what was decided at a moment, before the lease ended. */
  #due({ sentAtMs }: RequestRecord, atMs: number): boolean {
    const { history, scenario } = this.#world;
    const leaseEndMs = sentAtMs + scenario.leaseMs;
    if (atMs + QUIET_FOR_FIRST_MS < leaseEndMs && history.quiet(atMs, atMs + QUIET_FOR_FIRST_MS, QUIET_FOR_FIRST_MS)) return true;
    return history.quiet(atMs, leaseEndMs, QUIET_FOR_RETRY_MS);
  }

  #key({ id, answers, intent, sentAtMs }: RequestRecord): void {
    const { journal, violate } = this.#world;
    const key = this.#keys.keys.find(({ record }) => record.keyId === intent.keyId);
    const code = answers[0]?.code;
    if (key === undefined || code === undefined) return;
    const lost = (kind: 'create_key' | 'update_key' | 'revoke_key') =>
      journal.lost.some(({ action }) => action.kind === kind && action.keyId === key.record.keyId);
    const { createdAtMs, revokedAtMs } = key;
    if (revokedAtMs !== undefined && sentAtMs > revokedAtMs && code === 'ok' && !lost('revoke_key')) {
      violate('L7', `${id}, sent ${sentAtMs - revokedAtMs} ms after its key was revoked, was answered`);
    }
    const { atMs } = answers[0]!;
    const span = key.disabled.find(({ fromMs, untilMs }) => sentAtMs > fromMs && atMs <= untilMs);
    if (span !== undefined && code === 'ok' && !lost('update_key')) violate('L7', `${id}, sent with a key that was disabled, was answered`);
    if (createdAtMs === undefined || lost('create_key')) return;
    if (code === 'unauthorized' && !journal.addressRefused.has(id) && sentAtMs > createdAtMs + UNKNOWN_MS_MAX)
      violate('keys', `${id} with a key that exists was unauthorized`);
  }
}

/** What the log says of a request without a complete answer. */
function unansweredCode({ leftAtMs }: RequestRecord): string {
  return leftAtMs === undefined ? 'none' : 'client_closed';
}
