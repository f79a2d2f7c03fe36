// Plays one history on the model and on stores at once, and fails at the first answer in which they differ.
import { ulid } from 'ulid';
import type { TeamLimits } from '../../src/domain/plan.ts';
import type { AdmissionRequest, Reservation, Verdict } from '../../src/ports/ledger.ts';
import type { Store } from '../../src/ports/store.ts';
import type { Standing, Usage } from '../../src/ports/team-registry.ts';
import type { MovableClock } from '../contracts/movable-clock.ts';
import { GENEROUS_QUOTA, freshKey } from '../contracts/team-under-test.ts';
import { Agreement } from './agreement.ts';
import type { Contender } from './agreement.ts';
import { FIRST_KEYS, KEYS, TEAMS } from './history.ts';
import type { History, Step } from './history.ts';
import { overdrawn, unsound } from './invariants.ts';
import { Moments } from './moments.ts';

type Delivery =
  | { readonly kind: 'admit'; readonly request: AdmissionRequest }
  | { readonly kind: 'resolve'; readonly teamId: string; readonly requestId: string; readonly verdict: Verdict };

const GLOSSARY = { glossaryId: ulid(), sourceLang: 'EN', targetLang: 'DE' };

/** `model` first answers, the others must agree. The stores share `clock`. */
export async function replay(history: History, clock: MovableClock, model: Contender, others: readonly Contender[]): Promise<void> {
  await new Replay(clock, new Agreement(clock, model, others)).run(history);
}

class Replay {
  readonly #clock: MovableClock;
  readonly #agreement: Agreement;
  readonly #teamIds: readonly string[] = Array.from({ length: TEAMS }, () => ulid());
  readonly #keyIds: readonly string[][] = Array.from({ length: TEAMS }, () => []);
  readonly #requestIds = new Map<number, string>();
  readonly #retired = new Set<string>();
  readonly #deliveries: Delivery[] = [];
  /** In order; the model gives each once, by its id and the end of its lease. */
  readonly #reservations: Reservation[] = [];
  readonly #moments = new Moments();

  constructor(clock: MovableClock, agreement: Agreement) {
    this.#clock = clock;
    this.#agreement = agreement;
  }

  async run(history: History): Promise<void> {
    this.#clock.set(history.startMs);
    for (const [team, { limits, balanceMicro }] of history.teams.entries()) {
      const teamId = this.#teamId(team);
      await this.#agreement.on(`create team ${team}`, (store) =>
        store.teams.createTeam({ teamId, name: `Team ${team}`, plan: 'drawn', limits: { ...GENEROUS_QUOTA, ...limits }, balanceMicro }),
      );
      for (let i = 0; i < FIRST_KEYS; i++) await this.#createKey(team);
    }
    for (const step of history.steps) {
      await this.#take(step);
      if (history.lookAlways) await this.#look();
    }
    await this.#look();
  }

  async #take(step: Step): Promise<void> {
    switch (step.step) {
      case 'admit':
        return this.#deliver({ kind: 'admit', request: this.#request(step) });
      case 'resolve':
        return this.#deliver({ kind: 'resolve', ...this.#named(step.id), verdict: step.verdict });
      case 'settle': {
        const made = this.#reservations.at(-1 - step.nthLast);
        return made === undefined ? undefined : this.#deliver({ kind: 'resolve', ...made, verdict: step.verdict });
      }
      case 'redeliver': {
        const earlier = this.#deliveries.at(-1 - step.nthLast);
        return earlier === undefined ? undefined : this.#deliver(earlier);
      }
      case 'wait':
        return this.#clock.step(step.ms);
      case 'wait_until': {
        const next = this.#moments.next(step.moment, step.offsetMs, this.#clock.nowMs(), await this.#modelUsages());
        return next === undefined ? undefined : this.#clock.set(next);
      }
      case 'clock_back':
        return this.#stepBack(step.ms);
      case 'create_key':
        return this.#createKey(step.team);
      case 'revoke_key': {
        const keyId = this.#keyId(step.team, step.key);
        await this.#agreement.on(`revoke key ${keyId}`, (store) => store.teams.revokeKey(keyId));
        return;
      }
      case 'change_plan':
        return this.#changePlan(step.team, step.limits);
      case 'add_credit':
        await this.#update(step.team, { addMicro: step.micro });
        return;
      case 'look':
        return this.#look();
    }
  }

  async #deliver(delivery: Delivery): Promise<void> {
    const requestId = delivery.kind === 'admit' ? delivery.request.requestId : delivery.requestId;
    if (this.#retired.has(requestId)) return;
    this.#deliveries.push(delivery);
    if (delivery.kind === 'resolve') {
      const { teamId, verdict } = delivery;
      const answer = await this.#agreement.on(`${verdict} ${requestId}`, async (store) => store.ledger.resolve(teamId, requestId, verdict));
      this.#moments.resolved(requestId, answer, this.#clock.nowMs());
      return;
    }
    const { request } = delivery;
    const answer = await this.#agreement.on(`admit ${JSON.stringify(request)}`, async (store) => store.ledger.admit(request));
    this.#moments.admitted(request, answer, this.#clock.nowMs());
    if (answer.kind !== 'admitted' || answer.reservation === undefined) return;
    const { leaseUntilMs } = answer.reservation;
    // An answer given again says nothing about the limits of now.
    if (this.#reservations.some((one) => one.requestId === requestId && one.leaseUntilMs === leaseUntilMs)) return;
    this.#reservations.push(answer.reservation);
    const { team } = (await this.#model.teams.usage(request.teamId)) as Usage;
    this.#refuse(overdrawn((await this.#model.teams.standing(request.teamId)) as Standing, team));
  }

  async #look(): Promise<void> {
    for (const teamId of this.#teamIds) {
      const standing = await this.#agreement.on(`standing of ${teamId}`, (store) => store.teams.standing(teamId));
      await this.#agreement.on(`usage of ${teamId}`, (store) => store.teams.usage(teamId));
      await this.#agreement.on(`keys of ${teamId}`, (store) => store.teams.listKeys(teamId));
      this.#refuse(unsound(standing));
    }
  }

  #refuse(fault: string | undefined): void {
    if (fault !== undefined) throw this.#agreement.failure(fault);
  }

  async #stepBack(ms: number): Promise<void> {
    const nowMs = this.#clock.nowMs();
    const targetMs = Math.min(nowMs, Math.max(nowMs - ms, this.#moments.floorMs(nowMs, await this.#modelUsages())));
    for (const requestId of this.#moments.forgottenBetween(targetMs, nowMs)) this.#retired.add(requestId);
    for (const [id, requestId] of this.#requestIds) if (this.#retired.has(requestId)) this.#requestIds.delete(id);
    this.#clock.set(targetMs);
  }

  async #createKey(team: number): Promise<void> {
    const key = freshKey(this.#teamId(team), `key of team ${team}`);
    this.#keyIds[team]?.push(key.keyId);
    await this.#agreement.on(`create key ${key.keyId}`, (store) => store.teams.createKey(key));
    await this.#agreement.on(`find key ${key.keyId}`, async (store) => store.keys.find(key.digest));
  }

  async #changePlan(team: number, limits: TeamLimits): Promise<void> {
    const before = await this.#model.teams.findTeam(this.#teamId(team));
    if (before !== undefined && limits.requestsPerSecond < before.limits.requestsPerSecond) this.#moments.rateLowered(before.teamId);
    await this.#update(team, { plan: { name: 'changed', limits } });
  }

  async #update(team: number, change: Parameters<Store['teams']['updateTeam']>[1]): Promise<void> {
    await this.#agreement.on(`update team ${team} ${JSON.stringify(change)}`, (store) =>
      store.teams.updateTeam(this.#teamId(team), change),
    );
  }

  get #model(): Store {
    return this.#agreement.model;
  }

  async #modelUsages(): Promise<Usage[]> {
    const usages = await Promise.all(this.#teamIds.map((teamId) => this.#model.teams.usage(teamId)));
    return usages.filter((usage) => usage !== undefined);
  }

  #request({ id, key, characters, reserve, leaseMs, glossary }: Extract<Step, { step: 'admit' }>): AdmissionRequest {
    const team = id % TEAMS;
    return {
      ...this.#named(id),
      keyId: this.#keyId(key === KEYS - 1 ? team + 1 : team, key),
      characters,
      reserve,
      leaseMs,
      glossary: glossary ? GLOSSARY : undefined,
    };
  }

  #named(id: number): { readonly teamId: string; readonly requestId: string } {
    const requestId = this.#requestIds.get(id) ?? ulid();
    this.#requestIds.set(id, requestId);
    return { teamId: this.#teamId(id), requestId };
  }

  #teamId(team: number): string {
    return this.#teamIds[team % TEAMS] ?? '';
  }

  #keyId(team: number, key: number): string {
    const keyIds = this.#keyIds[team % TEAMS] ?? [];
    return keyIds[key % keyIds.length] ?? '';
  }
}
