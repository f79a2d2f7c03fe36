// Teams and keys to look at: made up, on every plan, some close to their limits, one with a plan's old numbers; used for a year.
import { randomBytes } from 'node:crypto';
import { ulid } from 'ulid';
import { digestOf, displayOf, newKey } from '../../src/domain/api-key.ts';
import { toMicro } from '../../src/domain/money.ts';
import { DAY_MS, parseDuration, periodAt } from '../../src/domain/period.ts';
import { limitsOf } from '../../src/domain/plan.ts';
import { DEFAULT_PLANS } from '../../src/config/schema.ts';
import type { TagSettings } from '../../src/domain/request-tag.ts';
import type { Plan } from '../../src/domain/plan.ts';
import type { Store } from '../../src/ports/store.ts';
import { promisedLedger } from '../support/promised-store.ts';
import { dice } from './sample-states.ts';

/** The default ones, and one with a long name and big numbers. */
export const SAMPLE_PLANS = {
  ...DEFAULT_PLANS,
  pro: {
    ...DEFAULT_PLANS['pro']!,
    limits: [
      { per: 'minute', requests: 600 },
      { per: 'day', requests: 20_000 },
      { per: 'month', characters: 1_000_000_000 },
    ],
  },
  'enterprise-europe-2026': {
    ...DEFAULT_PLANS['pro']!,
    characters: 12_500_000_000,
    overage_cap_minor: 250_000_000,
    requests_per_second: 2000,
  },
};

/** Of the first key. */
const KEY_LIMITS = { requestsPerSecond: 5, windows: 'requests=60/minute characters=1000000/day', scopes: ['translate:text', 'usage:read'] };

/** Tags of the first team's requests, and how they are limited. */
export const SAMPLE_TAG = 'northwind';
const TAGS = [
  SAMPLE_TAG,
  undefined,
  'b2b/eu',
  SAMPLE_TAG,
  'a-customer-whose-name-has-no-spaces-and-does-not-end-before-the-column-does',
  'website',
];
const TAGS_MAX = 1000;
const TAG_LIMITS: Readonly<Record<string, TagSettings>> = {
  [SAMPLE_TAG]: { disabled: false, requestsPerSecond: 5, characters: 20_000_000, windows: 'requests=60/minute characters=1000000/day' },
  'b2b/eu': { disabled: true, characters: 500_000 },
};

/** Of some teams: the operator's own words for them. */
const REFERENCES: Readonly<Record<string, string>> = {
  'Acme Support': 'K-20417',
  'Blue Harbour Travel': 'K-20981',
  'Équipe Québec': 'ca/000123/QC-0007',
  'team-with-a-name-that-has-no-spaces-and-does-not-end-before-the-column-does':
    'a-reference-of-64-characters-without-spaces-0123456789-0123456789',
};

/** Name, plan, share of the period's characters (or characters, with credit), credit in minor units. */
const TEAMS: readonly (readonly [name: string, plan: string, used: number, creditMinor?: number])[] = [
  ['Acme Support', 'pro', 0.62],
  ['Northwind Shop', 'pro', 0.87],
  ['Blue Harbour Travel', 'prepaid', 812_000, 41_250],
  ['Lumen Docs', 'free', 0.31],
  ['Équipe Québec', 'pro', 0.985],
  ['Kestrel Games', 'pro', 0.12],
  ['Studio Ø', 'free', 1],
  ['Fabrikam Manuals', 'prepaid', 96_400, 350],
  ['Übersetzungsbüro Groß', 'pro', 0.44],
  ['Contoso Mobile', 'free', 0],
  ['Harvest & Sons', 'free', 0.68],
  ['Tidewater Insurance', 'pro', 0.27],
  ['Rechtsschutzversicherungsgesellschaften Nordrhein-Westfalen und Rheinland-Pfalz GmbH & Co. KG', 'enterprise-europe-2026', 1.04],
  ['株式会社翻訳サービス東京本社カスタマーサポート部門', 'enterprise-europe-2026', 0.83],
  ['team-with-a-name-that-has-no-spaces-and-does-not-end-before-the-column-does', 'free', 0.97],
];

/** More of them than fit on a page, without use. */
const MORE = 70;

const LABELS = ['backend', 'batch jobs', 'website', 'old importer'] as const;

/** What each of so many keys has used of it. */
const SHARES: Readonly<Record<number, readonly number[]>> = { 2: [0.7, 0.3], 4: [0.7, 0.25, 0.05, 0] };

/** The store's clock, which the sample moves. */
interface SampleClock {
  atMs: number;
}

interface Use {
  readonly tag?: string | undefined;
  readonly atMs: number;
  readonly teamId: string;
  readonly keyId: string;
  readonly characters: number;
}

/** They were made so long before. */
const AGE_DAYS = 392;

/** The id of the first one. Leaves the clock where it was. */
export async function sampleTeams(store: Store, plans: ReadonlyMap<string, Plan>, clock: SampleClock): Promise<string> {
  const nowMs = clock.atMs;
  const uses: Use[] = [];
  const ends: (() => Promise<unknown>)[] = [];
  const random = dice(11);
  let first: string | undefined;
  clock.atMs = nowMs - AGE_DAYS * DAY_MS;
  for (const [name, plan, used, creditMinor = 0] of TEAMS) {
    const teamId = ulid();
    first ??= teamId;
    const numbers = limitsOf(plans.get(plan)!);
    const limits = { ...numbers, maxCharactersPerRequest: 1_000_000_000 };
    const reference = REFERENCES[name];
    const record = { teamId, name, plan, limits, balanceMicro: toMicro(creditMinor + 80_000) };
    await store.teams.createTeam({ ...record, ...(reference === undefined ? {} : { reference }) });
    const keys = teamId === first ? LABELS.length : 2;
    for (const [index, label] of LABELS.slice(0, keys).entries()) {
      const keyId = await makeKey(store, teamId, label, index === 3 ? 'test' : 'live');
      const characters = Math.floor((limits.billing === 'quota' ? used * limits.characterLimit : used) * SHARES[keys]![index]!);
      uses.push(...usesOf({ teamId, keyId, characters }, limits.period, clock.atMs, nowMs, teamId === first ? 1 : 9, random));
      if (index === 3) ends.push(() => store.teams.revokeKey(keyId));
      if (index === 0 && teamId === first) ends.push(() => store.teams.updateKey(keyId, { limits: KEY_LIMITS }));
    }
    // Kestrel Games is still held to what its plan said last year.
    const behind = name === 'Kestrel Games' ? { ...numbers, requestsPerSecond: 20 } : numbers;
    ends.push(() => store.teams.updateTeam(teamId, { plan: { name: plan, limits: behind } }));
  }
  for (let index = 1; index <= MORE; index++) {
    const limits = limitsOf(plans.get('free')!);
    ends.push(() => store.teams.createTeam({ teamId: ulid(), name: `Trial ${index}`, plan: 'free', limits, balanceMicro: 0 }, BY_SHOP));
  }
  let used = 0;
  for (const { atMs, teamId, keyId, characters } of uses.toSorted((a, b) => a.atMs - b.atMs)) {
    clock.atMs = Math.max(clock.atMs, atMs);
    await use(store, { teamId, keyId, characters, tag: teamId === first ? TAGS[used++ % TAGS.length] : undefined });
  }
  clock.atMs = nowMs;
  for (const end of ends) await end();
  return first!;
}

const BY_SHOP = { actor: 'admin:shop@10.0.0.9', action: 'createTeam' } as const;

/** Changes of a team, of whose makers the audit tells, and glossaries; the id of one of them. */
export async function sampleChanges({ teams, glossaries, tagSettings }: Store, teamId: string): Promise<string> {
  const by = (actor: string, action: string, reason?: string) => ({ actor, action, ...(reason === undefined ? {} : { reason }) });
  await teams.updateTeam(teamId, { name: 'Acme Help Desk' }, by('console:ops@10.0.0.7', 'updateTeam'));
  await teams.updateTeam(teamId, { name: 'Acme Support' }, by('cli:root@translate-1', 'updateTeam', 'They are called so after all'));
  const display = 'la_live_Qp7d';
  const key = { keyId: ulid(), teamId, digest: digestOf(display), display, label: 'trial', mode: 'live' } as const;
  await teams.createKey(key, by('admin:billing@2001:db8:85a3::8a2e:370:7334', 'createKey'));
  await teams.revokeKey(key.keyId, by('console:ops@10.0.0.7', 'revokeKey'));
  for (const [tag, settings] of Object.entries(TAG_LIMITS)) {
    await tagSettings.set(teamId, tag, settings, TAGS_MAX, by('console:ops@10.0.0.7', 'setTag'));
  }
  const ids = [ulid(), ulid()];
  for (const [index, name] of ['Product names', 'Support'].entries()) {
    const [glossaryId, entries] = [ids[index]!, { cloud: 'Cloud', ticket: 'Ticket' }];
    const dictionaries = ['DE', 'FR'].slice(index).map((targetLang) => ({ dictionaryId: ulid(), sourceLang: 'EN', targetLang, entries }));
    await glossaries.create({ glossaryId, teamId, name, dictionaries });
  }
  return ids[0]!;
}

/** Some on every `stepDays`th day: together `characters` in the period that runs, and less in those before. */
function usesOf(
  { teamId, keyId, characters }: Omit<Use, 'atMs'>,
  period: string,
  sinceMs: number,
  nowMs: number,
  stepDays: number,
  random: () => number,
): Use[] {
  if (characters === 0) return [];
  const { startMs } = periodAt(sinceMs, parseDuration(period)!, nowMs);
  const moments: number[] = [];
  for (let atMs = sinceMs + DAY_MS / 2; atMs < nowMs - 60_000; atMs += stepDays * DAY_MS) moments.push(atMs);
  moments.push(nowMs - 60_000);
  // Weekends are quiet.
  const weights = moments.map((atMs) => (0.4 + random()) * ([0, 6].includes(new Date(atMs).getUTCDay()) ? 0.25 : 1));
  const running = moments.map((atMs) => atMs >= startMs);
  const sum = weights.reduce((all, weight, index) => all + (running[index] ? weight : 0), 0);
  return moments.map((atMs, index) => {
    const grown = running[index] ? 1 : 0.1 + (0.8 * index) / moments.length;
    return { atMs, teamId, keyId, characters: Math.floor((characters * grown * weights[index]!) / sum) };
  });
}

async function makeKey(store: Store, teamId: string, label: string, mode: 'live' | 'test'): Promise<string> {
  const [keyId, key] = [ulid(), newKey(mode, randomBytes)];
  await store.teams.createKey({ keyId, teamId, digest: digestOf(key), display: displayOf(key), label, mode });
  return keyId;
}

async function use(store: Store, { teamId, keyId, characters, tag: name }: Omit<Use, 'atMs'>): Promise<void> {
  const requestId = ulid();
  const ledger = promisedLedger(store.ledger);
  const tag = name === undefined ? undefined : { name, distinctMax: TAGS_MAX };
  await ledger.admit({ requestId, teamId, keyId, characters, reserve: true, leaseMs: 60_000, glossary: undefined, tag });
  await ledger.resolve(teamId, requestId, 'commit');
}
