// A SQLite store with the usage that a test specifies, on the days that it names, made with a movable clock.
import { randomBytes } from 'node:crypto';
import { ulid } from 'ulid';
import { digestOf, displayOf, limitsOf, newKey, toMicro } from './door/terms.ts';
import { answered } from '../../src/index.ts';
import type { Plan } from '../../src/domain/plan.ts';
import type { Store } from '../../src/ports/store.ts';
import { QUOTA_PLAN } from './gateway.ts';
import { promisedLedger } from './promised-store.ts';
import { openBeside } from './store-place.ts';
import type { WrittenTeam } from './written-history.ts';

export interface UsedTeam {
  readonly teamId: string;
  /** By the key's label. */
  readonly keyIds: Readonly<Record<string, string>>;
}

interface UsedTeamDraft extends WrittenTeam {
  /** By name; `pro` if absent. */
  readonly plan?: string;
  readonly creditMinor?: number;
  /** The labels of its keys of mode `test`. */
  readonly testKeys?: readonly string[];
}

/** Teams are created at the start of `since`, a date. Nothing is left open. */
export async function useStore(
  url: string,
  since: string,
  drafts: readonly UsedTeamDraft[],
  plans: ReadonlyMap<string, Plan> = new Map([['pro', QUOTA_PLAN]]),
): Promise<UsedTeam[]> {
  let nowMs = Date.parse(since);
  const store = await openBeside(url, { nowMs: () => nowMs });
  const teams: UsedTeam[] = [];
  for (const draft of drafts) {
    nowMs++;
    teams.push(await makeUsedTeam(store, draft, plans));
  }
  const dates = [...new Set(drafts.flatMap(({ days }) => Object.keys(days)))].toSorted();
  for (const date of dates) {
    nowMs = Date.parse(date) + 1000;
    for (const [index, { days }] of drafts.entries()) {
      const { teamId, keyIds } = teams[index]!;
      for (const [label, [characters, requests]] of Object.entries(days[date] ?? {})) {
        // The first key gets what the others leave.
        for (let i = 0; i < requests; i++) {
          nowMs += 20;
          await use(store, teamId, keyIds[label]!, i === 0 ? characters - (requests - 1) : 1);
        }
      }
    }
  }
  await store.close();
  return teams;
}

async function makeUsedTeam(store: Store, draft: UsedTeamDraft, plans: ReadonlyMap<string, Plan>): Promise<UsedTeam> {
  const { name, reference, days, plan = 'pro', creditMinor = 0, testKeys = [] } = draft;
  const teamId = ulid();
  const limits = { ...limitsOf(plans.get(plan)!), maxCharactersPerRequest: 100_000_000 };
  answered(
    await store.teams.createTeam({
      teamId,
      name,
      ...(reference === undefined ? {} : { reference }),
      plan,
      limits,
      balanceMicro: toMicro(creditMinor),
    }),
  );
  const keyIds: Record<string, string> = {};
  for (const label of new Set(Object.values(days).flatMap((keys) => Object.keys(keys)))) {
    const mode = testKeys.includes(label) ? 'test' : 'live';
    const [keyId, key] = [ulid(), newKey(mode, randomBytes)];
    answered(await store.teams.createKey({ keyId, teamId, digest: digestOf(key), display: displayOf(key), label, mode }));
    keyIds[label] = keyId;
  }
  return { teamId, keyIds };
}

async function use(store: Store, teamId: string, keyId: string, characters: number): Promise<void> {
  const requestId = ulid();
  const ledger = promisedLedger(store.ledger);
  const admitted = await ledger.admit({ requestId, teamId, keyId, characters, reserve: true, leaseMs: 60_000, glossary: undefined });
  if (admitted.kind !== 'admitted') throw new Error(`a use of ${characters} characters returned ${admitted.kind}`);
  await ledger.resolve(teamId, requestId, 'commit');
}
