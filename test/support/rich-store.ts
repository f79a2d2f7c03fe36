// A store that contains everything a store can hold: for tests of copies, checks and backups.
import type { Audited } from '../../src/domain/audit-entry.ts';
import { eventRules } from './door/terms.ts';
import { isUnavailable } from '../../src/index.ts';
import { recordRefusals } from './door/stores.ts';
import { GENEROUS_QUOTA } from './door/contracts.ts';
import type { KeyLimits } from '../../src/domain/key-limits.ts';
import type { TeamLimits } from '../../src/domain/plan.ts';
import type { PluginStore } from '../../src/ports/plugin.ts';
import type { MovableClock } from '../../src/testing/movable-clock.ts';

export const RICH = {
  quota: '01JTEAM000000000000000000A',
  credit: '01JTEAM000000000000000000B',
  idle: '01JTEAM000000000000000000C',
  key: '01JKEY0000000000000000000A',
  otherKey: '01JKEY0000000000000000000B',
  revokedKey: '01JKEY0000000000000000000C',
  creditKey: '01JKEY0000000000000000000D',
  /** With every limit. The others are disabled, expired, or revoked and have a limit. */
  limitedKey: '01JKEY0000000000000000000E',
  disabledKey: '01JKEY0000000000000000000F',
  expiredKey: '01JKEY0000000000000000000G',
  revokedLimitedKey: '01JKEY0000000000000000000H',
  glossary: '01JG00000000000000000000GA',
  dictionary: '01JG00000000000000000000DA',
  largeGlossary: '01JG00000000000000000000GB',
  openId: '01JREQ0000000000000000000A',
  laterId: '01JREQ0000000000000000000B',
  doneId: '01JREQ0000000000000000000C',
  limitedId: '01JREQ0000000000000000000D',
  /** Of a test key, for nothing. */
  freeId: '01JREQ0000000000000000000E',
  digest: 'digest-of-the-first-key-with-43-characters-',
} as const;

const QUOTA: TeamLimits = {
  ...GENEROUS_QUOTA,
  requestsPerSecond: 5,
  maxCharactersPerRequest: 1000,
  maxGlossaries: 5,
  characterLimit: 5000,
  overageCharacters: 100,
  overageCapMinor: 10,
  minorPerMillion: 100_000,
};
const CREDIT: TeamLimits = {
  ...QUOTA,
  billing: 'credit',
  characterLimit: 0,
  overageCharacters: 0,
  overageCapMinor: 0,
  minorPerMillion: 2500,
};
const BY: Audited = { actor: 'cli:ada@host', action: 'createTeam' };
/** The address from which `limitedKey` is allowed. */
export const RICH_ADDRESS = '2001:db8::7';
/** One of its scopes. */
export const RICH_SCOPE = 'translate:text';
/** Settings with which operations store events of every kind. */
export const RICH_EVENTS = eventRules([1, 80], [4, 5]);
const DAY_MS = 86_400_000;
const LEASE_MS = 60_000;

/** Large enough for several pieces. */
function largeEntries(): Record<string, string> {
  return Object.fromEntries(Array.from({ length: 4000 }, (_, i) => [`term "${i}" \\ ü`, `Übersetzung, die ${i}. {ganz} lang ist`]));
}

/** A request that was answered; the one that was interrupted has another id. */
export const RICH_REQUEST = { id: 'request1', request: 'r', recordId: 'record1', holder: 'rich', leaseMs: 1000 };

/** Made by the store's own operations over some months; ends with open reservations and used slots of the rate window. */
export async function fillRich(store: PluginStore, clock: MovableClock): Promise<void> {
  const { teams, glossaries } = store;
  const refusals = recordRefusals(store.records, 400);
  let ids = 0;
  const use = async (teamId: string, keyId: string, characters: number): Promise<void> => {
    const requestId = `01JREQ00000000000000001${String(ids++).padStart(3, '0')}`;
    await admit(store, teamId, keyId, requestId, characters);
    done(await store.ledger.resolve(teamId, requestId, 'commit'));
    clock.step(300);
  };
  const key = (teamId: string, keyId: string, label: string, digest: string, mode: 'live' | 'test' = 'live') =>
    teams.createKey({ keyId, teamId, digest, display: `la_${mode}_Ab3d`, label, mode }, { ...BY, action: 'createKey' });
  done(await teams.createTeam({ teamId: RICH.quota, name: 'Ünïcode & "Söhne"', plan: 'pro', limits: QUOTA, balanceMicro: 0 }, BY));
  done(await key(RICH.quota, RICH.key, 'backend', RICH.digest));
  done(await key(RICH.quota, RICH.otherKey, 'zweiter Schlüssel', 'digest-two', 'test'));
  done(await key(RICH.quota, RICH.revokedKey, 'gone', 'digest-three'));
  clock.step(1000);
  done(await teams.createTeam({ teamId: RICH.credit, name: 'Prepaid', plan: 'prepaid', limits: CREDIT, balanceMicro: 5_000_000 }));
  done(await key(RICH.credit, RICH.creditKey, '', 'digest-four'));
  done(await teams.createTeam({ teamId: RICH.idle, name: 'Idle', plan: 'pro', limits: QUOTA, balanceMicro: 0 }));
  // Two periods that close, and days in them.
  for (const days of [0, 1, 40]) {
    clock.step(days * DAY_MS);
    await use(RICH.quota, RICH.key, 100 + days);
    await use(RICH.quota, RICH.revokedKey, 7);
    await use(RICH.credit, RICH.creditKey, 11);
    const counts = { rate_limited: days, quota_exceeded: 2, credit_exhausted: 1 };
    for (const teamId of [RICH.quota, RICH.credit])
      if ((await refusals.add(teamId, counts, clock.nowMs())) !== undefined) throw new Error('no refusals');
  }
  done(await teams.revokeKey(RICH.revokedKey, { ...BY, action: 'revokeKey', reason: 'it leaked' }));
  // A plan with another period length closes the period and anchors the next ones differently; the change is remembered.
  clock.step(35 * DAY_MS + 5 * 3_600_000);
  await use(RICH.quota, RICH.otherKey, 13);
  // Reserved in a period that ends before it is settled.
  await admit(store, RICH.quota, RICH.key, RICH.laterId, 17);
  const limits = { ...QUOTA, period: 'P7D', characterLimit: 4000, testAllowance: 100 };
  done(
    await teams.updateTeam(RICH.quota, { plan: { name: 'pro-weekly', limits }, once: { id: 'change1', request: '{"plan":"pro-weekly"}' } }),
  );
  for (const teamId of [RICH.quota, undefined]) {
    const claim = { ...RICH_REQUEST, id: `${RICH_REQUEST.id}${teamId === undefined ? '-interrupted' : ''}`, teamId };
    await store.idempotency.claim(claim);
    if (teamId === undefined) await store.idempotency.release(claim, 'repeat');
    else await store.idempotency.finish(claim, '{"status":200}', teamId);
  }
  done(await teams.updateTeam(RICH.credit, { name: 'Prepaid, renamed', addMicro: 1_000_000 }, { ...BY, action: 'updateTeam' }));
  const pair = { sourceLang: 'EN', targetLang: 'DE' };
  done(
    await glossaries.create({
      glossaryId: RICH.glossary,
      teamId: RICH.quota,
      name: 'Terms',
      dictionaries: [{ dictionaryId: RICH.glossary, ...pair, entries: { cat: 'Katze', 'a "b"': 'ü\\n' } }],
    }),
  );
  const created = await glossaries.find(RICH.quota, RICH.glossary);
  if (created === undefined || isUnavailable(created)) throw new Error('no glossary');
  const added = { dictionaryId: RICH.dictionary, sourceLang: 'EN', targetLang: 'FR', entries: { cat: 'chat' } };
  done(await glossaries.change({ ...created, teamId: RICH.quota, name: 'More terms', dictionaries: [...created.dictionaries, added] }));
  const large = { dictionaryId: RICH.largeGlossary, sourceLang: 'DE', targetLang: 'EN-GB', entries: largeEntries() };
  done(await glossaries.create({ glossaryId: RICH.largeGlossary, teamId: RICH.credit, name: 'Large', dictionaries: [large] }));
  // Closes everything that is due.
  for (const teamId of [RICH.quota, RICH.credit]) await store.history.periods(teamId);
  await admit(store, RICH.quota, RICH.otherKey, RICH.freeId, 43);
  clock.step(1100);
  await limitKeys(store, clock);
  await use(RICH.quota, RICH.limitedKey, 37);
  await use(RICH.quota, RICH.key, 23);
  await use(RICH.quota, RICH.otherKey, 29);
  await use(RICH.credit, RICH.creditKey, 31);
  await admit(store, RICH.quota, RICH.limitedKey, RICH.limitedId, 41);
  await admit(store, RICH.quota, RICH.key, RICH.openId, 19);
  await admit(store, RICH.credit, RICH.creditKey, RICH.openId, 400);
  await admit(store, RICH.credit, RICH.creditKey, RICH.doneId, 5);
  done(await store.ledger.resolve(RICH.credit, RICH.doneId, 'commit'));
}

/** Keys of the quota team with limits of their own. */
async function limitKeys({ teams }: PluginStore, clock: MovableClock): Promise<void> {
  const create = (keyId: string, label: string, limits: KeyLimits) =>
    teams.createKey({ keyId, teamId: RICH.quota, digest: `digest-${label}`, display: 'la_live_Lim1', label, mode: 'live', limits });
  const expiresAtMs = clock.nowMs() + 30 * DAY_MS;
  const allowedAddresses = ['10.0.0.0/8', '2001:db8::/32'];
  done(
    await create(RICH.limitedKey, 'limited', {
      expiresAtMs,
      requestsPerSecond: 2,
      characters: 150,
      allowedAddresses,
      scopes: [RICH_SCOPE, 'forward:voices'],
    }),
  );
  done(await create(RICH.disabledKey, 'disabled', {}));
  done(await teams.updateKey(RICH.disabledKey, { disabled: true }, { ...BY, action: 'updateKey' }));
  done(await create(RICH.expiredKey, 'expired', { expiresAtMs: clock.nowMs() + 1 }));
  done(await create(RICH.revokedLimitedKey, 'revoked', { characters: 5 }));
  done(await teams.revokeKey(RICH.revokedLimitedKey));
}

async function admit({ ledger }: PluginStore, teamId: string, keyId: string, requestId: string, characters: number): Promise<void> {
  const request = { requestId, teamId, keyId, characters, reserve: true, leaseMs: LEASE_MS, glossary: undefined };
  done(await ledger.admit({ ...request, address: RICH_ADDRESS, scope: RICH_SCOPE }));
}

/** What a store returns on success. */
function done(answer: unknown): void {
  const kind = typeof answer === 'object' && answer !== null && 'kind' in answer ? answer.kind : undefined;
  const good = [undefined, 'admitted', 'committed', 'created', 'changed'];
  if (answer === undefined || !good.includes(kind as string | undefined)) throw new Error(`the store returned ${JSON.stringify(answer)}`);
}
