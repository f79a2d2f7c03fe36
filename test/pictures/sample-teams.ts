// Teams and keys to look at: made up, on every plan, some close to their limits, one with a plan's old numbers.
import { randomBytes } from 'node:crypto';
import { ulid } from 'ulid';
import { digestOf, displayOf, newKey } from '../../src/domain/api-key.ts';
import { toMicro } from '../../src/domain/money.ts';
import { limitsOf } from '../../src/domain/plan.ts';
import type { Plan } from '../../src/domain/plan.ts';
import type { Store } from '../../src/ports/store.ts';
import { promisedLedger } from '../support/promised-store.ts';

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
];

const LABELS = ['backend', 'batch jobs', 'website', 'old importer'] as const;

/** What each of so many keys has used of it. */
const SHARES: Readonly<Record<number, readonly number[]>> = { 2: [0.7, 0.3], 4: [0.7, 0.25, 0.05, 0] };

/** The id of the first one. */
export async function sampleTeams(store: Store, plans: ReadonlyMap<string, Plan>): Promise<string> {
  let first: string | undefined;
  for (const [name, plan, used, creditMinor = 0] of TEAMS) {
    const teamId = ulid();
    first ??= teamId;
    const numbers = limitsOf(plans.get(plan)!);
    const limits = { ...numbers, maxCharactersPerRequest: 10_000_000 };
    await store.teams.createTeam({ teamId, name, plan, limits, balanceMicro: toMicro(creditMinor + 5000) });
    const keys = teamId === first ? LABELS.length : 2;
    for (const [index, label] of LABELS.slice(0, keys).entries()) {
      const keyId = await makeKey(store, teamId, label, index === 3 ? 'test' : 'live');
      const characters = Math.floor((limits.billing === 'quota' ? used * limits.characterLimit : used) * SHARES[keys]![index]!);
      if (characters > 0) await use(store, teamId, keyId, characters);
      if (index === 3) await store.teams.revokeKey(keyId);
    }
    // Kestrel Games is still held to what its plan said last year.
    const behind = name === 'Kestrel Games' ? { ...numbers, requestsPerSecond: 20 } : numbers;
    await store.teams.updateTeam(teamId, { plan: { name: plan, limits: behind } });
  }
  return first!;
}

async function makeKey(store: Store, teamId: string, label: string, mode: 'live' | 'test'): Promise<string> {
  const [keyId, key] = [ulid(), newKey(mode, randomBytes)];
  await store.teams.createKey({ keyId, teamId, digest: digestOf(key), display: displayOf(key), label, mode });
  return keyId;
}

async function use(store: Store, teamId: string, keyId: string, characters: number): Promise<void> {
  const requestId = ulid();
  const ledger = promisedLedger(store.ledger);
  await ledger.admit({ requestId, teamId, keyId, characters, reserve: true, leaseMs: 60_000, glossary: undefined });
  await ledger.resolve(teamId, requestId, 'commit');
}
