// Replays one history on the model and on stores at once, and fails at the first answer that differs.
import { ulid } from 'ulid';
import type { TeamLimits } from '../../../src/domain/plan.ts';
import { answered } from '../../../src/index.ts';
import type {
  Admission,
  AdmissionRequest,
  CallerCheck,
  CheckedCaller,
  Reservation,
  Resolution,
  Verdict,
} from '../../../src/ports/ledger.ts';
import type { GlossaryRecord } from '../../../src/ports/glossary-store.ts';
import type { PeriodUse } from '../../../src/ports/usage-history.ts';
import type { PluginStore } from '../../../src/ports/plugin.ts';
import type { MovableClock } from '../../../src/testing/movable-clock.ts';
import type { SteppingClock } from '../stepping-clock.ts';
import { freshKey, GENEROUS_QUOTA, singleGlossary } from '../door/contracts.ts';
import { DAY_MS, dayOf, windowAt } from '../reference/calendar.ts';
import { referenceStore } from '../reference-store.ts';
import { Agreement } from './agreement.ts';
import type { Contender } from './agreement.ts';
import { FIRST_KEYS, KEYS, PAIRS, TEAMS } from './history.ts';
import type { GlossaryUse, History, Moment, Operation, Step } from './history.ts';
import type { KeyMode } from '../../../src/domain/api-key.ts';

/** For a team that has not created as many glossaries as a step refers to. */
const NO_GLOSSARY = ulid();

class Cast {
  readonly teamIds: string[] = Array.from({ length: TEAMS }, () => ulid());
  /** Deleted, with their usage left. */
  readonly deletedIds: string[] = [];
  readonly #keyIds: readonly string[][] = Array.from({ length: TEAMS }, () => []);
  readonly #glossaryIds: readonly string[][] = Array.from({ length: TEAMS }, () => []);
  readonly #requestIds = new Map<number, string>();

  addKey(team: number, keyId: string): void {
    this.#keyIds[team % TEAMS]?.push(keyId);
  }

  /** Of the next key of the team: a team's keys take turns, and the first is a live one in the first team, a test key in the other. */
  nextMode(team: number): KeyMode {
    return (team + (this.#keyIds[team % TEAMS]?.length ?? 0)) % 2 === 0 ? 'live' : 'test';
  }

  addGlossary(team: number, glossaryId: string): void {
    this.#glossaryIds[team % TEAMS]?.push(glossaryId);
  }

  /** Another team from now on, without keys and glossaries. Requests keep the team that they were made for. */
  replaceTeam(team: number, keepsUsage: boolean): void {
    const at = team % TEAMS;
    if (keepsUsage) this.deletedIds.push(this.teamId(team));
    this.teamIds[at] = ulid();
    this.#keyIds[at]!.length = 0;
    this.#glossaryIds[at]!.length = 0;
  }

  teamId(team: number): string {
    return this.teamIds[team % TEAMS] ?? '';
  }

  keyId(team: number, key: number): string {
    const keyIds = this.#keyIds[team % TEAMS] ?? [];
    return keyIds[key % keyIds.length] ?? '';
  }

  glossaryId(team: number, nthLast: number): string {
    return this.#glossaryIds[team % TEAMS]?.at(-1 - nthLast) ?? NO_GLOSSARY;
  }

  /** A request's id and its team. */
  named(id: number): { readonly teamId: string; readonly requestId: string } {
    const requestId = this.#requestIds.get(id) ?? ulid();
    this.#requestIds.set(id, requestId);
    return { teamId: this.teamId(id), requestId };
  }

  request({
    id,
    key,
    characters,
    reserve,
    leaseMs,
    glossary,
    reportRate,
    reportPlan,
    address,
    scope,
    tag,
  }: Extract<Step, { step: 'admit' }>): AdmissionRequest {
    const team = id % TEAMS;
    return {
      ...this.named(id),
      keyId: this.keyId(key === KEYS - 1 ? team + 1 : team, key),
      characters,
      reserve,
      leaseMs,
      glossary: glossary === undefined ? undefined : this.#reference(team, glossary),
      reportRate,
      ...(reportPlan ? { reportPlan } : {}),
      ...(address === undefined ? {} : { address }),
      ...(scope === undefined ? {} : { scope }),
      ...(tag === undefined ? {} : { tag }),
    };
  }

  check({ id, key, address, scope, tag }: Extract<Step, { step: 'check' }>): CallerCheck {
    const team = id % TEAMS;
    const from = {
      ...(address === undefined ? {} : { address }),
      ...(scope === undefined ? {} : { scope }),
      ...(tag === undefined ? {} : { tag }),
    };
    return { ...this.named(id), keyId: this.keyId(key === KEYS - 1 ? team + 1 : team, key), ...from };
  }

  #reference(team: number, { foreign, nthLast, pair, byBase }: GlossaryUse): AdmissionRequest['glossary'] {
    const [sourceLang, targetLang] = pairOf(pair);
    return { glossaryId: this.glossaryId(foreign ? team + 1 : team, nthLast), sourceLang, targetLang, byBase };
  }
}

function pairOf(pair: number): readonly [sourceLang: string, targetLang: string] {
  return PAIRS[pair % PAIRS.length] ?? PAIRS[0];
}

const RATE_WINDOW_MS = 1000;

interface End {
  readonly requestId: string;
  readonly atMs: number;
}

const PLACELESS: ReadonlySet<Admission['kind']> = new Set(['key_unknown', 'key_revoked', 'rate_limited']);

/** Collected from the model's answers. */
class Moments {
  readonly #leaseEnds: End[] = [];
  readonly #windowEdges: number[] = [];
  /** Teams whose rate was lowered and that have taken no slot of the window since. */
  readonly #lowered = new Set<string>();

  admitted({ requestId, teamId }: AdmissionRequest, answer: Admission, nowMs: number): void {
    const atMs = answer.kind === 'admitted' ? answer.reservation?.leaseUntilMs : undefined;
    // A repeated reservation has changed nothing.
    if (this.#leaseEnds.some((end) => end.requestId === requestId && end.atMs === atMs)) return;
    if (!PLACELESS.has(answer.kind)) this.#lowered.delete(teamId);
    this.#windowEdges.push(nowMs + RATE_WINDOW_MS);
    if (atMs !== undefined) this.#leaseEnds.push({ requestId, atMs });
  }

  rateLowered(teamId: string): void {
    this.#lowered.add(teamId);
  }

  /** The first moment of this kind that, with its offset, is after `nowMs`. */
  next(moment: Moment, offsetMs: number, nowMs: number, periodEnds: readonly number[]): number | undefined {
    const candidates = {
      lease_end: () => this.#leaseEnds.map((end) => end.atMs),
      window_edge: () => this.#windowEdges,
      period_end: () => periodEnds,
      minute_edge: () => [0, 1].map((n) => windowAt('minute', nowMs).endMs + n * 60_000),
      // Weeks end at midnights, too.
      month_edge: () => [windowAt('month', nowMs).endMs, windowAt('month', windowAt('month', nowMs).endMs).endMs],
      midnight: () => [0, 1].map((n) => (dayOf(nowMs) + 1 + n) * DAY_MS),
      second_edge: () => [0, 1].map((n) => (Math.floor(nowMs / 1000) + 1 + n) * 1000),
    }[moment]();
    const later = candidates.map((atMs) => atMs + offsetMs).filter((atMs) => atMs > nowMs);
    return later.length === 0 ? undefined : Math.min(...later);
  }

  /**
   * Whether the answer after a step back is certain. The ports leave open whether slots that were already free when a
   * lowered rate refused a request return with the clock: a wait may differ by a second, but there is never a slot too many.
   */
  mayStepBack(): boolean {
    return this.#lowered.size === 0;
  }
}

/** Others may be missing. */
function isRetained({ characters, credit }: PeriodUse): boolean {
  const { openingMicro, addedMicro, deductedMicro, balanceMicro } = credit;
  return characters > 0 || addedMicro > 0 || deductedMicro > 0 || openingMicro !== balanceMicro;
}

/** Stores drop the first days of a long history; when they notice that is up to each of them. */
const CERTAIN_DAYS = 395;

type Delivery =
  | { readonly kind: 'admit'; readonly request: AdmissionRequest }
  | { readonly kind: 'check'; readonly check: CallerCheck }
  | {
      readonly kind: 'resolve';
      readonly teamId: string;
      readonly requestId: string;
      readonly verdict: Verdict;
      readonly part: number | undefined;
    };

/** The starting point of a change that finds no glossary. */
const NOT_THERE: Pick<GlossaryRecord, 'name' | 'revision' | 'dictionaries'> = { name: 'gone', revision: 1, dictionaries: [] };

/** A wrong clock is right again when it has been wrong for this long: after ten minutes it would be believed. */
const WRONG_MS_MAX = 540_000;

/** What the stores' time is. */
interface ReplayClocks {
  /** The time that passes, which is the model's. */
  readonly clock: MovableClock;
  /** The clock that the other stores see and judge. */
  readonly machine: SteppingClock;
}

/** A reference store of its own answers first, because it searches all that it has, and the others must agree. */
export async function replay(history: History, clocks: ReplayClocks, others: readonly Contender[]): Promise<void> {
  await new Replay(clocks, new Agreement(clocks.clock, referenceStore(clocks.clock), others)).run(history);
}

class Replay {
  readonly #clock: MovableClock;
  readonly #agreement: Agreement;
  readonly #model: PluginStore;
  readonly #cast = new Cast();
  readonly #deliveries: Delivery[] = [];
  /** In order; the model reports each once, by its id and the end of its lease. */
  readonly #reservations: Reservation[] = [];
  readonly #moments = new Moments();
  #firstId = '';
  readonly #machine: SteppingClock;
  #wrongSinceMs = 0;

  constructor({ clock, machine }: ReplayClocks, agreement: Agreement) {
    this.#clock = clock;
    this.#machine = machine;
    this.#agreement = agreement;
    this.#model = agreement.model;
  }

  async run(history: History): Promise<void> {
    this.#setWrong(0);
    this.#set(history.startMs);
    this.#firstId = this.#cast.teamId(0);
    for (const team of history.teams.keys()) await this.#createTeam(history, team);
    for (const step of history.steps) {
      if (step.step === 'delete_team') await this.#replaceTeam(history, step);
      else await this.#take(step);
      if (history.compareAlways) await this.#compare();
    }
    await this.#compare();
  }

  async #createTeam({ teams }: History, team: number): Promise<void> {
    const { limits, balanceMicro } = teams[team % teams.length]!;
    const teamId = this.#cast.teamId(team);
    await this.#agreement.on(`create team ${team}`, (store) =>
      store.teams.createTeam({ teamId, name: `Team ${team}`, plan: 'drawn', limits: { ...GENEROUS_QUOTA, ...limits }, balanceMicro }),
    );
    for (let i = 0; i < FIRST_KEYS; i++) await this.#createKey(team);
  }

  async #replaceTeam(history: History, { team, keepUsage }: Extract<Step, { step: 'delete_team' }>): Promise<void> {
    const teamId = this.#cast.teamId(team);
    await this.#agreement.on(`delete team ${team}, usage kept: ${keepUsage}`, (store) => store.teams.deleteTeam(teamId, { keepUsage }));
    this.#cast.replaceTeam(team, keepUsage);
    await this.#createTeam(history, team);
  }

  async #take(step: Exclude<Step, { step: 'delete_team' }>): Promise<void> {
    switch (step.step) {
      case 'admit':
      case 'check':
      case 'resolve':
      case 'settle':
      case 'redeliver':
        return this.#deliver([step]);
      case 'turn':
        return this.#deliver(step.operations);
      case 'wait':
        return this.#move(this.#clock.nowMs() + step.ms);
      case 'wait_until': {
        const periodEnds = step.moment === 'period_end' ? await this.#periodEnds() : [];
        const next = this.#moments.next(step.moment, step.offsetMs, this.#clock.nowMs(), periodEnds);
        return next === undefined ? undefined : this.#move(next);
      }
      case 'clock_back':
        return this.#stepBack(step.ms);
      case 'wrong_clock':
        return this.#setWrong(step.offByMs);
      case 'create_key':
        return this.#createKey(step.team);
      case 'revoke_key': {
        const keyId = this.#cast.keyId(step.team, step.key);
        await this.#agreement.on(`revoke key ${keyId}`, (store) => store.teams.revokeKey(keyId));
        return;
      }
      case 'change_key': {
        const [keyId, expires] = [this.#cast.keyId(step.team, step.key), step.expiresInMs];
        const expiresAtMs = typeof expires === 'number' ? this.#clock.nowMs() + expires : expires;
        const limits = { ...step.change.limits, ...(expiresAtMs === undefined ? {} : { expiresAtMs }) };
        const change = { ...step.change, limits };
        await this.#agreement.on(`change key ${keyId} ${JSON.stringify(change)}`, (store) => store.teams.updateKey(keyId, change));
        return;
      }
      case 'set_tag': {
        const [teamId, { tag, settings }] = [this.#cast.teamId(step.team), step];
        await this.#agreement.on(`settings of ${tag}: ${JSON.stringify(settings)}`, async (store) =>
          settings === null ? store.tagSettings.remove(teamId, tag) : store.tagSettings.set(teamId, tag, settings, 2),
        );
        return;
      }
      case 'change_plan':
        return this.#changePlan(step.team, step.limits);
      case 'add_credit':
        return this.#update(step.team, { addMicro: step.micro });
      case 'create_glossary':
        return this.#createGlossary(step.team, step.pair);
      case 'change_glossary':
        return this.#changeGlossary(step);
      case 'remove_glossary': {
        const [teamId, glossaryId] = [this.#cast.teamId(step.team), this.#cast.glossaryId(step.team, step.nthLast)];
        await this.#agreement.on(`remove glossary ${glossaryId}`, (store) => store.glossaries.remove(teamId, glossaryId));
        return;
      }
      case 'close_periods':
        return this.#compareHistory(this.#cast.teamId(step.team));
      case 'compare':
        return this.#compare();
    }
  }

  /** Sends them one after the other without waiting for answers: stores may run them in one batch, but only in this order. */
  async #deliver(operations: readonly Operation[]): Promise<void> {
    const deliveries = operations.map((operation) => this.#delivery(operation)).filter((delivery) => delivery !== undefined);
    if (deliveries.length === 0) return;
    this.#deliveries.push(...deliveries);
    const answers = await this.#agreement.on(deliveries.map((delivery) => JSON.stringify(delivery)).join('\n    '), (store) =>
      Promise.all(deliveries.map((delivery) => ask(store, delivery))),
    );
    for (const [index, delivery] of deliveries.entries())
      if (delivery.kind === 'admit') this.#noteAdmission(delivery.request, answers[index] as Admission);
  }

  #delivery(operation: Operation): Delivery | undefined {
    switch (operation.step) {
      case 'admit':
        return { kind: 'admit', request: this.#cast.request(operation) };
      case 'check':
        return { kind: 'check', check: this.#cast.check(operation) };
      case 'resolve':
        return { kind: 'resolve', ...this.#cast.named(operation.id), verdict: operation.verdict, part: operation.part };
      case 'settle': {
        const made = this.#reservations.at(-1 - operation.nthLast);
        if (made === undefined) return undefined;
        return { kind: 'resolve', teamId: made.teamId, requestId: made.requestId, verdict: operation.verdict, part: operation.part };
      }
      case 'redeliver':
        return this.#deliveries.at(-1 - operation.nthLast);
    }
  }

  #noteAdmission(request: AdmissionRequest, answer: Admission): void {
    this.#moments.admitted(request, answer, this.#clock.nowMs());
    if (answer.kind !== 'admitted' || answer.reservation === undefined) return;
    const { requestId, leaseUntilMs } = answer.reservation;
    // Not an answer that is repeated.
    const isNew = !this.#reservations.some((one) => one.requestId === requestId && one.leaseUntilMs === leaseUntilMs);
    if (isNew) this.#reservations.push(answer.reservation);
  }

  async #compare(): Promise<void> {
    for (const teamId of this.#cast.teamIds) {
      await this.#agreement.on(`standing of ${teamId}`, (store) => store.teams.standing(teamId));
      await this.#agreement.on(`usage of ${teamId}`, (store) => store.teams.usage(teamId));
      await this.#agreement.on(`keys of ${teamId}`, (store) => store.teams.listKeys(teamId));
      await this.#compareHistory(teamId);
      await this.#agreement.on(`tags with settings of ${teamId}`, (store) => store.tagSettings.list(teamId));
      await this.#agreement.on(`glossaries of ${teamId}`, (store) => store.glossaries.list(teamId));
    }
    for (const teamId of this.#cast.deletedIds) await this.#compareRetained(teamId);
    // Only from this history's first one on, because a search would go through the teams of all histories.
    const page = { after: this.#firstId, limit: this.#cast.teamIds.length, search: undefined };
    await this.#agreement.on('summaries', (store) => store.teams.pageSummaries(page));
  }

  /** Days and periods. Those that are about to expire are left out. */
  async #compareHistory(teamId: string): Promise<void> {
    const range = this.#certainDays();
    await this.#agreement.on(`days of ${teamId}`, (store) => store.history.days(teamId, range));
    await this.#agreement.on(`tags of ${teamId}`, (store) => store.tags.days(teamId, range));
    await this.#agreement.on(`periods of ${teamId}`, async (store) =>
      answered(await store.history.periods(teamId))!
        .filter((one, index) => index === 0 || (isRetained(one) && dayOf(one.endMs) >= range.from))
        .map(({ number: _number, ...period }) => period),
    );
  }

  /** Only its days and periods are left of a deleted team. Once all of them have expired, it is unknown: sooner or later, as for each of them. */
  async #compareRetained(teamId: string): Promise<void> {
    const range = this.#certainDays();
    await this.#agreement.on(`days left of ${teamId}`, async (store) => answered(await store.history.days(teamId, range))?.days ?? []);
    await this.#agreement.on(`periods left of ${teamId}`, async (store) =>
      (answered(await store.history.periods(teamId)) ?? [])
        .filter(({ endMs }) => dayOf(endMs) >= range.from)
        .map(({ number: _number, ...period }) => period),
    );
    await this.#agreement.on(`standing of ${teamId}`, (store) => store.teams.standing(teamId));
  }

  #certainDays(): { readonly from: number; readonly to: number } {
    const today = dayOf(this.#clock.nowMs());
    return { from: today - CERTAIN_DAYS, to: today + 1 };
  }

  /** What has once been seen as ended stays ended: leases and periods do not come back when the clock steps back. */
  async #stepBack(ms: number): Promise<void> {
    if (!this.#moments.mayStepBack()) return;
    await this.#compare();
    this.#setWrong(0);
    this.#set(this.#clock.nowMs() - ms);
  }

  #setWrong(offByMs: number): void {
    this.#machine.offByMs = offByMs;
    this.#wrongSinceMs = this.#clock.nowMs();
  }

  #move(toMs: number): void {
    if (toMs - this.#wrongSinceMs >= WRONG_MS_MAX) this.#setWrong(0);
    this.#set(toMs);
  }

  #set(nowMs: number): void {
    this.#clock.set(nowMs);
    for (const look of this.#machine.watches) look();
  }

  async #createKey(team: number): Promise<void> {
    const key = freshKey(this.#cast.teamId(team), `key of team ${team}`, this.#cast.nextMode(team));
    this.#cast.addKey(team, key.keyId);
    await this.#agreement.on(`create key ${key.keyId}`, (store) => store.teams.createKey(key));
    await this.#agreement.on(`find key ${key.keyId}`, async (store) => store.keys.find(key.digest));
  }

  async #createGlossary(team: number, pair: number): Promise<void> {
    const [glossaryId, teamId, [sourceLang, targetLang]] = [ulid(), this.#cast.teamId(team), pairOf(pair)];
    const [name, entries] = [`glossary of team ${team}`, { [glossaryId]: targetLang }];
    const glossary = singleGlossary({ glossaryId, teamId, name, sourceLang, targetLang, entries });
    const { kind } = await this.#agreement.on(`create glossary ${glossaryId}`, (store) => store.glossaries.create(glossary));
    if (kind === 'created') this.#cast.addGlossary(team, glossaryId);
    await this.#agreement.on(`entries of ${glossaryId}`, (store) => store.glossaries.entries(teamId, glossaryId));
  }

  async #changeGlossary({ team, nthLast, pair, put, isStale }: Extract<Step, { step: 'change_glossary' }>): Promise<void> {
    const [teamId, glossaryId, [sourceLang, targetLang]] = [this.#cast.teamId(team), this.#cast.glossaryId(team, nthLast), pairOf(pair)];
    const { name, revision, dictionaries } = answered(await this.#model.glossaries.find(teamId, glossaryId)) ?? NOT_THERE;
    const dictionary = { dictionaryId: ulid(), sourceLang, targetLang, entries: { [glossaryId]: String(revision), pair: targetLang } };
    const others = dictionaries.filter((one) => one.sourceLang !== sourceLang || one.targetLang !== targetLang);
    const next = put ? [dictionary, ...others] : others;
    const change = { teamId, glossaryId, name: `${name}!`, revision: isStale ? revision - 1 : revision, dictionaries: next };
    await this.#agreement.on(`change glossary ${JSON.stringify(change)}`, (store) => store.glossaries.change(change));
    for (const { dictionaryId } of [...dictionaries, dictionary]) {
      await this.#agreement.on(`entries of ${dictionaryId}`, (store) => store.glossaries.entries(teamId, dictionaryId));
    }
  }

  async #changePlan(team: number, limits: TeamLimits): Promise<void> {
    const before = answered(await this.#model.teams.findTeam(this.#cast.teamId(team)));
    if (before !== undefined && limits.requestsPerSecond < before.limits.requestsPerSecond) this.#moments.rateLowered(before.teamId);
    await this.#update(team, { plan: { name: 'changed', limits } });
  }

  async #update(team: number, change: Parameters<PluginStore['teams']['updateTeam']>[1]): Promise<void> {
    await this.#agreement.on(`update team ${team} ${JSON.stringify(change)}`, (store) =>
      store.teams.updateTeam(this.#cast.teamId(team), change),
    );
  }

  async #periodEnds(): Promise<number[]> {
    const ends: number[] = [];
    for (const teamId of this.#cast.teamIds) {
      // The stores are asked as well: the model's time must not be ahead of theirs.
      const usage = await this.#agreement.on(`period of ${teamId}`, (store) => store.teams.usage(teamId));
      ends.push(answered(usage)!.periodEndMs);
    }
    return ends;
  }
}

async function ask(store: PluginStore, delivery: Delivery): Promise<Admission | CheckedCaller | Resolution> {
  if (delivery.kind === 'admit') return store.ledger.admit(delivery.request);
  if (delivery.kind === 'check') return store.ledger.check(delivery.check);
  return store.ledger.resolve(delivery.teamId, delivery.requestId, delivery.verdict, delivery.part);
}
