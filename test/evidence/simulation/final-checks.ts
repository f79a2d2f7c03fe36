// What must hold when a run is over: each caller's record against the gateway's log and the store's accounts.
import { isDeepStrictEqual } from 'node:util';
import { dayOf } from '../../../src/domain/period.ts';
import type { KeyLimits } from '../../../src/domain/key-limits.ts';
import type { Usage } from '../../../src/ports/team-registry.ts';
import { answered } from '../../../src/domain/store-unavailable.ts';
import { unaccounted, untallied } from '../../support/model/day-invariants.ts';
import { shownFault } from '../../support/model/window-check.ts';
import type { WindowCheck } from '../../support/model/window-check.ts';
import { chargeOf, delivered, endedAtMs } from './history.ts';
import type { RequestRecord } from './history.ts';
import type { KeyRing } from './keys.ts';
import type { IdState, TeamCheck } from './team-check.ts';
import type { SimulatedStore, World } from './world.ts';

/** Deadlines are checked this often, and answers take a moment. */
const DEADLINE_SLACK_MS = 251;
/** Long enough for a retry of the queue, its answer and a second round; and for a verdict that needs no retry. */
const QUIET_FOR_RETRY_MS = 2300;
const QUIET_FOR_FIRST_MS = 450;
/** How long a step continues that was aborted while it waited. */
const STEP_MS_MAX = 700;
/** How long a key that was tried before it existed may count as unknown: remembered for a second after a late look-up. */
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
    for (const team of journal.teams.values()) {
      for (const [id, { state }] of team.ids) {
        const record = history.need(id);
        const overAtMs = endedAtMs(record);
        if (state !== 'open' || overAtMs === undefined || record.excuse !== undefined) continue;
        // The ports say so: a 429 leaves no trace of its id, and a later copy of it is judged again.
        if (record.answers[0]?.code === 'rate_limited') continue;
        // A step that is waiting when the answer is given returns a little later, and settles then.
        if (this.#due(record, overAtMs + STEP_MS_MAX)) violate('L5', `${id} is still held although nothing of it was in flight`);
      }
    }
  }

  requests(): void {
    const { bugs, requests } = this.#world.history;
    for (const bug of bugs) this.#world.violate('bug', bug);
    for (const record of requests.values()) {
      this.#answer(record);
      this.#log(record);
      this.#charge(record, this.#idOf(record));
      this.#key(record);
    }
  }

  /** Once every lease has ended. */
  async balances(store: SimulatedStore): Promise<void> {
    const { journal, violate } = this.#world;
    for (const [teamId, team] of journal.teams) {
      const standing = await store.standing(teamId);
      const usage = await store.usage(teamId);
      if (standing === undefined || usage === undefined) return violate('L3', `team ${teamId} is gone`);
      const { heldCharacters, heldMicro, openReservations, balanceMicro } = standing;
      if (heldCharacters + heldMicro + openReservations !== 0) violate('L5', `team ${teamId} still holds ${JSON.stringify(standing)}`);
      const first = usage.periodStartMs === usage.team.createdAtMs;
      const { characters } = team.charged(first ? undefined : usage.periodStartMs);
      // If the clock steps back, the period stays: reservations in it may seem to come from before it.
      const certain = first || journal.clockChangedAtMs < 0;
      if (certain && usage.characters !== characters) violate('L3', `team ${teamId} used ${usage.characters}, charged were ${characters}`);
      if (balanceMicro !== team.balanceMicro) violate('L3', `team ${teamId} has ${balanceMicro} left of ${team.balanceMicro}`);
      this.#windows(`team ${teamId}`, usage, team.windows, store);
      await this.#tags(teamId, usage.team.limits.period.endsWith('M'), team, store);
      for (const { keyId, lastUsedAtMs, limits, windows } of usage.keys) {
        this.#windows(`key ${keyId}`, { windows }, team.key(keyId).windows, store);
        const expected = team.key(keyId).limits;
        if (limitsText(limits) !== limitsText(expected))
          violate('L10', `key ${keyId} has ${JSON.stringify(limits)}, not ${JSON.stringify(expected)}`);
        const usedAtMs = team.lastUseMs.get(keyId);
        if (usedAtMs !== lastUsedAtMs) violate('L8', `key ${keyId} was last used at ${lastUsedAtMs} instead of ${usedAtMs}`);
      }
    }
  }

  /** What is shown of tags with settings is what was counted for them. `isOnePeriod`: none has ended in the run. */
  async #tags(teamId: string, isOnePeriod: boolean, team: TeamCheck, store: SimulatedStore): Promise<void> {
    const { time, violate } = this.#world;
    const shown = answered(await store.tagSettings.list(teamId)) ?? [];
    const [names, expected] = [shown.map(({ tag }) => tag), [...team.tags.keys()].toSorted()];
    if (names.join() !== expected.join()) violate('L12', `team ${teamId} has settings of ${names.join()} instead of ${expected.join()}`);
    for (const { tag, settings, use } of shown) {
      const check = team.tags.get(tag);
      if (check === undefined) continue;
      if (!isDeepStrictEqual(settings, check.settings))
        violate('L12', `tag ${tag} has ${JSON.stringify(settings)}, not ${JSON.stringify(check.settings)}`);
      const used = check.used(time.wallMs(store.process));
      if (isOnePeriod && use.characters !== used) violate('L12', `tag ${tag} has used ${use.characters}, counted were ${used}`);
      this.#windows(`tag ${tag}`, use, check.windows, store);
    }
  }

  /** What is shown of limits by minute to month is what was counted in them. */
  #windows(
    whose: string,
    { windows = [] }: { readonly windows?: Usage['windows'] | undefined },
    check: WindowCheck,
    { process }: SimulatedStore,
  ): void {
    const { time, violate } = this.#world;
    const storeMs = time.wallMs(process);
    for (const one of windows) {
      const fault = shownFault(check, one, storeMs);
      if (fault !== undefined) violate('L11', `${whose} ${fault}`);
    }
  }

  /** Days by key and by tag, and periods, have exactly what was charged, whatever died meanwhile and however clocks went. */
  async history(store: SimulatedStore): Promise<void> {
    const { journal, scenario, violate } = this.#world;
    // Clocks are off by hours at most.
    const range = { from: dayOf(scenario.beginningMs) - 2, to: dayOf(scenario.beginningMs) + 2 };
    for (const [teamId, team] of journal.teams) {
      const use = answered(await store.history.days(teamId, range));
      const periods = answered(await store.history.periods(teamId));
      if (use === undefined || periods === undefined) return violate('L9', `team ${teamId} has no history`);
      const tagged = answered(await store.tags.days(teamId, range));
      for (const fault of unaccounted(team.charges, use.days, periods)) violate('L9', `team ${teamId}, ${fault}`);
      for (const fault of untallied(team.charges, tagged, use.days)) violate('L12', `team ${teamId}, ${fault}`);
      for (const { closed, number } of periods.slice(1)) {
        if (!closed) violate('L9', `period ${number} of team ${teamId} is not closed although nothing is open`);
      }
    }
  }

  #idOf(record: RequestRecord): IdState | undefined {
    for (const team of this.#world.journal.teams.values()) {
      const state = team.ids.get(record.id);
      if (state !== undefined) return state;
    }
    return undefined;
  }

  /** Every caller gets one answer in time, unless the caller or the gateway left first. */
  #answer({ id, answers, brokenAtMs, gateway, intent, leftAtMs, sentAtMs, excuse }: RequestRecord): void {
    const { scenario, violate } = this.#world;
    const [answer] = answers;
    if (answers.length > 1) violate('answer', `${id} was answered ${answers.length} times`);
    if (answer === undefined) {
      if (leftAtMs === undefined && brokenAtMs === undefined && gateway.alive) violate('answer', `${id} was never answered`);
      return;
    }
    if (brokenAtMs !== undefined) violate('answer', `${id} was answered although its answer broke off`);
    if (leftAtMs !== undefined) violate('answer', `${id} was answered after its caller had left`);
    const tookMs = answer.atMs - sentAtMs;
    // Forwarded requests have deadlines of their own once admitted.
    const forwarded = intent.route === 'documents' || intent.route === 'voices';
    const inMs = scenario.requestMs + (forwarded ? scenario.leaseMs : 0);
    if (excuse === undefined && tookMs > inMs + DEADLINE_SLACK_MS) violate('deadline', `${id} was answered after ${tookMs} ms`);
    if (answer.status === 200 && intent.route === 'translate' && answer.billedCharacters !== chargeOf(intent)) {
      violate('L2', `${id}, to be charged ${chargeOf(intent)} characters, was billed ${answer.billedCharacters}`);
    }
    const wanted = intent.text?.map((text) => text.toUpperCase());
    if (answer.translations !== undefined && answer.translations.join('\n') !== wanted?.join('\n'))
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
  #charge(record: RequestRecord, state: IdState | undefined): void {
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
function unansweredCode({ brokenAtMs, leftAtMs }: RequestRecord): string {
  if (brokenAtMs !== undefined) return 'engine_unavailable';
  return leftAtMs === undefined ? 'none' : 'client_closed';
}

/** Equal for equal limits, regardless of member order. */
function limitsText({ expiresAtMs, requestsPerSecond, characters, allowedAddresses, scopes, windows }: KeyLimits): string {
  return JSON.stringify([expiresAtMs, requestsPerSecond, characters, allowedAddresses, scopes, windows]);
}
