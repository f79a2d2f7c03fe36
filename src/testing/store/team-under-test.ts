// The fixture of the store contract: the store under test, and a new team with one key in it, with helpers for its requests.
import { randomBytes } from 'node:crypto';
import { ulidSource } from '../../domain/ulid.ts';
import { digestOf, displayOf, newKey } from '../../domain/api-key.ts';
import type { KeyMode } from '../../domain/api-key.ts';
import { limitsOf } from '../../domain/plan.ts';
import type { TeamLimits } from '../../domain/plan.ts';
import { answered } from '../../domain/store-unavailable.ts';
import type { Admission, AdmissionRequest, CallerCheck, CheckedCaller, Reservation, Resolution, Verdict } from '../../ports/ledger.ts';
import type { PluginStore } from '../../ports/plugin.ts';
import type { KeyRecord, NewKey, Standing, Usage } from '../../ports/team-registry.ts';
import type { AddCase } from '../cases.ts';
import type { MovableClock } from '../movable-clock.ts';
import { play } from './steps.ts';

export interface Subject {
  store: PluginStore;
  /** A second instance on the same backing. */
  again: PluginStore;
  /** Opens another one, which the case closes. */
  readonly open: () => Promise<PluginStore>;
  readonly clock: MovableClock;
}

/** Limits that differ from a generous quota, and a balance. */
export type Terms = Partial<TeamLimits> & { readonly balanceMicro?: number };
/** What happens, in code or as steps (steps.ts). */
type TeamCase = ((team: TeamUnderTest, subject: Subject) => Promise<void>) | string;

/** How the parts of the store contract add their cases. */
export interface AddStoreCase extends AddCase<Subject> {
  /** Adds a case that begins with a new team. */
  team(name: string, ...scene: [run: TeamCase] | [terms: Terms, run: TeamCase]): void;
}

export function withTeams(add: AddCase<Subject>): AddStoreCase {
  const team: AddStoreCase['team'] = (name, ...scene) => {
    const [terms, run]: [Terms, TeamCase] = scene.length === 1 ? [{}, scene[0]] : scene;
    const { balanceMicro = 0, ...limits } = terms;
    add(name, async (subject) => {
      const made = await teamUnderTest(subject.store, limits, balanceMicro);
      await (typeof run === 'string' ? play(subject, made, run) : run(made, subject));
    });
  };
  return Object.assign(add, { team });
}

/** Generates ids of requests and records. */
export const newId = ulidSource(() => Date.now());

/** An id that sorts by this time. */
export const idAt = (nowMs: number): string => ulidSource(() => nowMs)();

export const LEASE_MS = 60_000;

export const GENEROUS_QUOTA: TeamLimits = limitsOf({
  billing: 'quota',
  requests_per_second: 1000,
  max_characters_per_request: 10_000,
  max_glossaries: 1,
  characters: 1_000_000,
  period: 'P1M',
  overage_cap_minor: 0,
  overage_minor_per_million: 0,
  currency: 'EUR',
});

/** 0.0025 of a minor unit per character. */
export const PREPAID: TeamLimits = { ...GENEROUS_QUOTA, billing: 'credit', characterLimit: 0, minorPerMillion: 2500 };

export type AdmissionChoices = Partial<Omit<AdmissionRequest, 'teamId'>>;

/** The rest of a team's standing without open reservations, and without an allowance for test keys. */
export const NOTHING_HELD = { heldCharacters: 0, allowanceUsed: 0, allowanceHeld: 0, heldMicro: 0, openReservations: 0 };

/** A request without text, which only takes a slot in the window. */
export const TOUCH: AdmissionChoices = { characters: undefined, reserve: false };

export interface TeamUnderTest {
  readonly teamId: string;
  readonly keyId: string;
  /** Reserves 10 characters by default. `store` is another instance on the same backing. */
  admit(options?: AdmissionChoices, store?: PluginStore): Promise<Admission>;
  /** Checks what can be checked before a long body. */
  check(choices?: Partial<CallerCheck>): Promise<CheckedCaller>;
  /** The same team with these choices in each admission. */
  with(choices: AdmissionChoices): TeamUnderTest;
  /** Like `with`, for another of its keys. */
  withKey(keyId: string): TeamUnderTest;
  /** How long a refusal says that it holds, for every request like a touch, or with these characters; 0 if it does not say. */
  holdsForMs(options?: AdmissionChoices): Promise<number>;
  /** Makes admissions one after another, and returns their kinds. */
  kinds(...requests: readonly AdmissionChoices[]): Promise<string[]>;
  /** Like `admit`, but throws unless there is a reservation. */
  reserve(characters: number, options?: AdmissionChoices): Promise<Reservation>;
  touch(store?: PluginStore): Promise<Admission>;
  /** Touches after each of these steps of the clock, and returns how long each has to wait: 0 if it is admitted. */
  waits(clock: MovableClock, steps: readonly number[]): Promise<number[]>;
  commit(requestId: string, store?: PluginStore): Promise<Resolution>;
  /** Charges a part of the reserved characters. */
  commitPart(requestId: string, characters: number | undefined, store?: PluginStore): Promise<Resolution>;
  release(requestId: string, store?: PluginStore): Promise<Resolution>;
  /** Reserves and commits. */
  use(characters: number, options?: AdmissionChoices): Promise<void>;
  newKey(label?: string, mode?: KeyMode): Promise<NewKey>;
  /** Its first key by default. */
  revoke(keyId?: string): Promise<KeyRecord | undefined>;
  setLimits(change: Partial<TeamLimits>): Promise<void>;
  /** Replaces the limits of whoever it is under test: see `OwnLimits`. */
  setOwn(limits: string): Promise<void>;
  /** How it is refused if there is no room for its characters. */
  refusal(): 'quota_exceeded' | 'credit_exhausted';
  /** The ids of what steps have reserved, by name (steps.ts). */
  readonly reserved: Map<string, string>;
  standing(store?: PluginStore): Promise<Standing>;
  usage(store?: PluginStore): Promise<Usage>;
}

/** Limits that a team, a key and a tag may have. In cases they are a text: `requests=2/second characters=9/period requests=5/day`. */
interface OwnLimits {
  readonly requestsPerSecond?: number;
  readonly characters?: number;
  readonly windows?: string;
}

export function limitsIn(text: string): OwnLimits {
  const numbers = text.split(' ').filter((one) => one !== '');
  const only = (form: RegExp) => numbers.flatMap((one) => form.exec(one)?.slice(1).map(Number) ?? [])[0];
  const [requestsPerSecond, characters] = [only(/^requests=(\d+)\/second$/), only(/^characters=(\d+)\/period$/)];
  const windows = numbers.filter((one) => !/\/(second|period)$/.test(one)).join(' ');
  return {
    ...(requestsPerSecond !== undefined && { requestsPerSecond }),
    ...(characters !== undefined && { characters }),
    ...(windows !== '' && { windows }),
  };
}

export function freshKey(teamId: string, label = 'backend', mode: KeyMode = 'live'): NewKey {
  const key = newKey(mode, randomBytes);
  return { keyId: newId(), teamId, digest: digestOf(key), display: displayOf(key), label, mode };
}

export async function teamUnderTest(home: PluginStore, limits: Partial<TeamLimits> = {}, balanceMicro = 0): Promise<TeamUnderTest> {
  const teamId = newId();
  const given = { ...GENEROUS_QUOTA, ...limits };
  let held = given;
  const reserved = new Map<string, string>();
  answered(await home.teams.createTeam({ teamId, name: 'Team under test', plan: 'test', limits: held, balanceMicro }));
  const made = async (key: NewKey): Promise<NewKey> => {
    answered(await home.teams.createKey(key));
    return key;
  };
  const settle = async (requestId: string, verdict: Verdict, store = home, characters?: number): Promise<Resolution> =>
    store.ledger.resolve(teamId, requestId, verdict, characters);
  const through = (choices: AdmissionChoices & { readonly keyId: string }): TeamUnderTest => {
    const plain = { teamId, characters: 10, reserve: true, leaseMs: LEASE_MS, glossary: undefined, ...choices };
    const ask = async (options: AdmissionChoices, store = home) => store.ledger.admit({ requestId: newId(), ...plain, ...options });
    const admit = async (options: AdmissionChoices = {}, store = home): Promise<Admission> => withoutPromise(await ask(options, store));
    const { keyId, tag } = choices;
    const team: TeamUnderTest = {
      teamId,
      keyId,
      with: (more) => through({ ...choices, ...more }),
      withKey: (other) => through({ ...choices, keyId: other }),
      admit,
      check: async (more) => withoutPromise(await home.ledger.check({ requestId: newId(), teamId, keyId, tag, ...more })),
      async holdsForMs(options = TOUCH) {
        const answer = await ask(options);
        if (answer.kind !== 'rate_limited') throw new Error(`expected a refusal by a rate, got ${answer.kind}`);
        return answer.fullForMs ?? 0;
      },
      async kinds(...requests) {
        const kinds: string[] = [];
        for (const request of requests) kinds.push((await admit(request)).kind);
        return kinds;
      },
      async reserve(characters, options = {}) {
        const admission = await admit({ characters, ...options });
        if (admission.kind === 'admitted' && admission.reservation !== undefined) return admission.reservation;
        throw new Error(`expected a reservation, got ${JSON.stringify(admission)}`);
      },
      touch: (store = home) => admit(TOUCH, store),
      async waits(clock, steps) {
        const waits: number[] = [];
        for (const step of steps) {
          clock.step(step);
          const admission = await admit(TOUCH);
          if (admission.kind !== 'admitted' && admission.kind !== 'rate_limited') throw new Error(`expected a rate, got ${admission.kind}`);
          waits.push(admission.kind === 'rate_limited' ? admission.retryAfterMs : 0);
        }
        return waits;
      },
      commit: (requestId, store) => settle(requestId, 'commit', store),
      commitPart: (requestId, characters, store) => settle(requestId, 'commit', store, characters),
      release: (requestId, store) => settle(requestId, 'release', store),
      async use(characters, options) {
        await settle((await team.reserve(characters, options)).requestId, 'commit');
      },
      newKey: (label, mode) => made(freshKey(teamId, label, mode)),
      revoke: async (other = keyId) => answered(await home.teams.revokeKey(other)),
      async setLimits(change) {
        held = { ...held, ...change };
        answered(await home.teams.updateTeam(teamId, { plan: { name: 'test', limits: held } }));
      },
      setOwn: (own) => {
        const { requestsPerSecond = given.requestsPerSecond, characters = given.characterLimit, windows = given.windows } = limitsIn(own);
        return team.setLimits({ requestsPerSecond, characterLimit: characters, windows });
      },
      reserved,
      refusal: () => (held.billing === 'credit' ? 'credit_exhausted' : 'quota_exceeded'),
      standing: async (store = home) => present(answered(await store.teams.standing(teamId))),
      usage: async (store = home) => present(answered(await store.teams.usage(teamId))),
    };
    return team;
  };
  return through({ keyId: (await made(freshKey(teamId))).keyId });
}

/**
 * Most cases do not depend on how long a refusal by a rate holds: it is left out of what they compare. It must be shorter than the
 * wait, because the clock may be nearly a millisecond later than it says.
 */
function withoutPromise<Answer extends Admission | CheckedCaller>(answer: Answer): Answer {
  if (answer.kind !== 'rate_limited' || answer.fullForMs === undefined) return answer;
  const { fullForMs, ...rest } = answer;
  if (fullForMs < 0 || fullForMs >= answer.retryAfterMs)
    throw new Error(`a refusal cannot hold for ${fullForMs} ms: ${JSON.stringify(rest)}`);
  return rest as Answer;
}

/** For values that must exist. */
export function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the store does not know what is under test');
  return value;
}
