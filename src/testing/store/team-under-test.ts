// A new team with one key in the store under test, and helpers for requests of it.
import { randomBytes } from 'node:crypto';
import { ulidSource } from '../../domain/ulid.ts';
import { digestOf, displayOf, newKey } from '../../domain/api-key.ts';
import type { TeamLimits } from '../../domain/plan.ts';
import { answered } from '../../domain/store-unavailable.ts';
import type { Admission, AdmissionRequest, Reservation, Resolution } from '../../ports/ledger.ts';
import type { PluginStore } from '../../ports/plugin.ts';
import type { NewKey, Standing, Usage } from '../../ports/team-registry.ts';

/** Generates ids of requests and records. */
export const newId = ulidSource(() => Date.now());

/** An id that sorts by this time. */
export const idAt = (nowMs: number): string => ulidSource(() => nowMs)();

export const LEASE_MS = 60_000;

export const GENEROUS_QUOTA: TeamLimits = {
  billing: 'quota',
  requestsPerSecond: 1000,
  maxCharactersPerRequest: 10_000,
  maxGlossaries: 1,
  characterLimit: 1_000_000,
  overageCharacters: 0,
  overageCapMinor: 0,
  minorPerMillion: 0,
  currency: 'EUR',
  period: 'P1M',
};

/** 0.0025 of a minor unit per character. */
export const PREPAID: TeamLimits = { ...GENEROUS_QUOTA, billing: 'credit', characterLimit: 0, minorPerMillion: 2500 };

export interface AdmissionChoices {
  readonly requestId?: string;
  readonly keyId?: string;
  readonly characters?: number | undefined;
  readonly reserve?: boolean;
  readonly leaseMs?: number;
  readonly glossary?: AdmissionRequest['glossary'];
  readonly reportRate?: boolean;
  readonly address?: string;
  readonly reportPlan?: true;
}

export interface TeamUnderTest {
  readonly teamId: string;
  readonly keyId: string;
  /** Reserves 10 characters by default. `store` is another instance on the same backing. */
  admit(options?: AdmissionChoices, store?: PluginStore): Promise<Admission>;
  /** Like `admit`, but throws unless there is a reservation. */
  reserve(characters: number, options?: AdmissionChoices): Promise<Reservation>;
  /** An admission without text, which only takes a slot in the window. */
  touch(store?: PluginStore): Promise<Admission>;
  commit(requestId: string, store?: PluginStore): Promise<Resolution>;
  /** Charges a part of the reserved characters. */
  commitPart(requestId: string, characters: number, store?: PluginStore): Promise<Resolution>;
  release(requestId: string, store?: PluginStore): Promise<Resolution>;
  setLimits(change: Partial<TeamLimits>): Promise<void>;
  standing(store?: PluginStore): Promise<Standing>;
  usage(store?: PluginStore): Promise<Usage>;
}

export function freshKey(teamId: string, label = 'backend', mode: 'live' | 'test' = 'live'): NewKey {
  const key = newKey(mode, randomBytes);
  return { keyId: newId(), teamId, digest: digestOf(key), display: displayOf(key), label, mode };
}

export async function teamUnderTest(home: PluginStore, limits: Partial<TeamLimits> = {}, balanceMicro = 0): Promise<TeamUnderTest> {
  const teamId = newId();
  let held = { ...GENEROUS_QUOTA, ...limits };
  answered(await home.teams.createTeam({ teamId, name: 'Team under test', plan: 'test', limits: held, balanceMicro }));
  const key = freshKey(teamId);
  answered(await home.teams.createKey(key));

  const admit = async (options: AdmissionChoices = {}, store = home): Promise<Admission> =>
    store.ledger.admit({
      requestId: newId(),
      teamId,
      keyId: key.keyId,
      characters: 10,
      reserve: true,
      leaseMs: LEASE_MS,
      glossary: undefined,
      ...options,
    });
  return {
    teamId,
    keyId: key.keyId,
    admit,
    async reserve(characters, options = {}) {
      const admission = await admit({ characters, ...options });
      if (admission.kind === 'admitted' && admission.reservation !== undefined) return admission.reservation;
      throw new Error(`expected a reservation, got ${JSON.stringify(admission)}`);
    },
    touch: (store = home) => admit({ characters: undefined, reserve: false }, store),
    commit: async (requestId, store = home) => store.ledger.resolve(teamId, requestId, 'commit'),
    commitPart: async (requestId, characters, store = home) => store.ledger.resolve(teamId, requestId, 'commit', characters),
    release: async (requestId, store = home) => store.ledger.resolve(teamId, requestId, 'release'),
    async setLimits(change) {
      held = { ...held, ...change };
      answered(await home.teams.updateTeam(teamId, { plan: { name: 'test', limits: held } }));
    },
    standing: async (store = home) => present(answered(await store.teams.standing(teamId))),
    usage: async (store = home) => present(answered(await store.teams.usage(teamId))),
  };
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the store does not know the team under test');
  return value;
}
