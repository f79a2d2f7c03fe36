// Whole accounts in Redis, for checks, copies and repairs: a team with all that it has, read at one moment and written in its place.
import { answeringAll } from '../../domain/store-unavailable.ts';
import { keySubject, tagOfSubject } from '../../domain/window-limits.ts';
import type { StoredCounts, WindowSubject } from '../../domain/window-limits.ts';
import type { KeyOwner } from '../../domain/api-key.ts';
import { firstCounts } from '../../ledger/account-rows.ts';
import { Account } from '../../ledger/account.ts';
import type { HeldReservation } from '../../ledger/open-reservations.ts';
import type { StoredRecord } from '../../ports/record-space.ts';
import type { Standing } from '../../ports/team-registry.ts';
import type { KeyContents, WholeAccount, WholeAccounts, WindowSlots } from '../../ports/whole-accounts.ts';
import { RECORD_TABLES } from '../records/record-tables.ts';
import { accountPeriods, chargedIn, requestsOf } from '../records/usage-rows.ts';
import { scanned } from './redis-connection.ts';
import type { RedisBlobs } from './redis-blobs.ts';
import { digestKey, groupKey, LAYOUT_KEY, OF_TEAM, ownerKey, slotsOf, tableOf } from './redis-keys.ts';
import type { Write } from './redis-link.ts';
import { attachBlob, setRecord, tagTable } from './redis-records.ts';
import { endedPeriods, usageRows } from './redis-usage.ts';
import { HashDraft, manyWrites } from './redis-groups.ts';
import type { RedisGroups } from './redis-groups.ts';
import { HashRows, openAccount, writeAccount } from './team-accounts.ts';
import type { DeletedTeam } from './redis-team-erasure.ts';
import {
  chargeFields,
  fieldsWith,
  countedSlots,
  FIELD,
  keyText,
  readBalance,
  readCharges,
  readCounter,
  readKey,
  slotTimes,
} from './team-fields.ts';
import type { PeriodCounter } from './team-fields.ts';
import type { TeamIndex } from './team-index.ts';

interface AccountParts {
  readonly groups: RedisGroups;
  readonly blobs: RedisBlobs;
  readonly index: TeamIndex;
}

/** Tables whose records are fields of hashes of their own. */
const TABLES = RECORD_TABLES.filter((table) => table !== 'tag_limits' && table !== 'tag_uses');
/** Every hash of a team, by what follows its key. */
const HASHES = ['', OF_TEAM.days, OF_TEAM.periods, ...TABLES.map(tableOf)];

type Hashes = ReadonlyMap<string, ReadonlyMap<string, string>>;

export function redisAccounts({ groups, blobs, index }: AccountParts): WholeAccounts {
  const { link } = groups;

  /** Written last: by them the team and its keys are found. */
  const find = async ({ team: { teamId }, period, keys }: WholeAccount): Promise<void> => {
    for (const { keyId, digest, mode } of period === undefined ? [] : keys) {
      await link.ask((redis) => redis.set(ownerKey(keyId), teamId));
      const owner: KeyOwner = { keyId, teamId, mode };
      if (digest !== undefined) await link.ask((redis) => redis.set(digestKey(digest), JSON.stringify(owner)));
    }
    await index.add(teamId);
  };

  return answeringAll<WholeAccounts>({
    async change(teamId, decide) {
      let hashes: Hashes = new Map();
      const read = async (): Promise<HashDraft> => {
        // At once, because a gateway may change them in between.
        const found = await Promise.all(HASHES.map((suffix) => groups.hash(teamId, suffix)));
        hashes = new Map(found.map((fields, i) => [HASHES[i]!, fields]));
        return new HashDraft(found[0]);
      };
      const written = await groups.decide(teamId, read, async (draft) => {
        const change = decide(await readWhole(groups, teamId, draft, hashes));
        if (change === undefined) return undefined;
        const { account, attach = [] } = change;
        draft.replace(hashes);
        for (const blob of attach) {
          await blobs.write(account.team.teamId, [blob]);
          await blobs.writeSmall(account.team.teamId, blob);
        }
        draft.frees = false;
        writeWhole(account, draft);
        for (const blob of attach) attachBlob(draft, blob);
        return account;
      });
      if (written !== undefined) await find(written);
    },
    async clear() {
      for await (const names of scanned(link.redis, 1000)) {
        for (const name of names) if (name !== LAYOUT_KEY) await link.ask((redis) => redis.unlink(name));
      }
    },
  });
}

async function readWhole(groups: RedisGroups, teamId: string, draft: HashDraft, hashes: Hashes): Promise<WholeAccount | undefined> {
  const fields = draft.read;
  const charges = readCharges(hashes.get(OF_TEAM.days)!);
  const usage = usageRows(fields, charges, endedPeriods(hashes.get(OF_TEAM.periods)!), 0);
  if (usage === undefined) return undefined;
  const slots = async (subject: string) =>
    countedSlots(await groups.link.ask((redis) => redis.lrange(groupKey(teamId) + slotsOf(subject), 0, -1)));
  const { team, ended, openingMicro } = usage;
  const rows = new HashRows(draft, 0);
  const open = openAccount(draft, rows);
  const ofTags = (['tag_limits', 'tag_uses'] as const).map(
    async (table) => [table, await tagTable(groups, teamId, table, fields)] as const,
  );
  const tables = [...TABLES.map((table) => [table, hashes.get(tableOf(table))!] as const), ...(await Promise.all(ofTags))];
  return {
    team,
    period: open?.counts.period,
    ended,
    openingMicro,
    charges,
    standing: standingOf(fields, open),
    window: await slots('team'),
    windowCounts: windowCountsOf(fields),
    keys: await Promise.all(rows.keyIds().map(async (keyId) => keyContents(keyId, fields, rows, await slots(keySubject(keyId))))),
    requests: requestsOf(open),
    changes: [...rows.changes()].map(([id, change]) => ({ id, ...change })),
    records: tables.flatMap(([table, found]) => [...found].map(([id, value]): StoredRecord => ({ table, id, value }))),
  };
}

function keyContents(keyId: string, fields: ReadonlyMap<string, string>, rows: HashRows, window: readonly WindowSlots[]): KeyContents {
  const { record, digest } = readKey(fields.get(FIELD.key(keyId))!);
  const { teamId: _team, ...key } = record;
  const { atMs: lastUsedAtMs, held, used: characters, requests } = rows.useOf(keyId);
  const heldCharacters = key.limits.characters === undefined || !fields.has(FIELD.period) ? undefined : held;
  const slots = key.limits.requestsPerSecond === undefined ? [] : window;
  return { ...key, lastUsedAtMs, digest, characters, requests, heldCharacters, window: slots };
}

/** As it is stored, not as it follows from the reservations: the check compares both. */
function standingOf(fields: ReadonlyMap<string, string>, account: Account | undefined): Standing {
  const { used, held, testUsed = 0, testHeld = 0 } = readCounter(fields.get(FIELD.used), account?.counts.period.number ?? 0);
  const { micro: balanceMicro, held: heldMicro } = readBalance(fields.get(FIELD.balance));
  const ofTeam = { usedCharacters: used, heldCharacters: held, allowanceUsed: testUsed, allowanceHeld: testHeld };
  return { ...ofTeam, balanceMicro, heldMicro, openReservations: account?.reservations.size ?? 0 };
}

/** Those of tags are records. */
function windowCountsOf(fields: ReadonlyMap<string, string>): WholeAccount['windowCounts'] {
  return fieldsWith(fields, FIELD.windows('')).flatMap(([name, text]) => {
    const subject = name as WindowSubject;
    return tagOfSubject(subject) === undefined ? [{ subject, counts: JSON.parse(text) as StoredCounts }] : [];
  });
}

/** Everything of an account in place of what is there. */
function writeWhole(whole: WholeAccount, draft: HashDraft): void {
  const { team, period, ended, keys, requests, changes, records, charges } = whole;
  const { further } = draft;
  const rows = new HashRows(draft, 0);
  const ofPeriod = (used: Pick<WholeAccount['charges'][number], 'characters' | 'requests'>): PeriodCounter => {
    return { period: period?.number ?? 0, used: used.characters, held: 0, requests: used.requests };
  };
  draft.set(FIELD.keys, String(keys.length));
  for (const [i, { digest, window, lastUsedAtMs, heldCharacters: _h, characters: _c, requests: _r, ...key }] of keys.entries()) {
    draft.set(FIELD.key(key.keyId), keyText({ record: { ...key, teamId: team.teamId }, digest, order: i + 1 }));
    // What is used follows from the charges.
    const own = charges.filter(({ keyId }) => keyId === key.keyId);
    const used = { ...ofPeriod(chargedIn(own, period?.number ?? 0)), atMs: lastUsedAtMs };
    draft.set(FIELD.usedBy(key.keyId), JSON.stringify(used satisfies PeriodCounter));
    further.push(...slotWrites(keySubject(key.keyId), window));
  }
  further.push(...slotWrites('team', whole.window));
  const reservations = new Map<string, HeldReservation>();
  for (const { requestId, periodNumber, ...held } of requests)
    reservations.set(requestId, { tickets: undefined, tag: undefined, ...held, period: periodNumber });
  for (const [requestId, held] of reservations) draft.set(FIELD.open(requestId), JSON.stringify(held));
  for (const { id, ...change } of changes) rows.putChange(id, change);
  for (const { subject, counts } of whole.windowCounts) draft.set(FIELD.windows(subject), JSON.stringify(counts));
  for (const { table, id, value } of records) setRecord(draft, team.teamId, { table, id }, value);
  for (const one of ended) rows.endPeriod(one);
  const days = charges.flatMap((charge) => chargeFields(charge).flat());
  further.push(...manyWrites('HSET', OF_TEAM.days, days));
  if (period === undefined) return draft.set(FIELD.deleted, JSON.stringify(deletedOf(whole)));
  const ofTeam = chargedIn(charges, period.number);
  const ofTests = ofTeam.ofAllowance === 0 ? {} : { testUsed: ofTeam.ofAllowance, testHeld: 0 };
  draft.set(FIELD.used, JSON.stringify({ ...ofPeriod(ofTeam), ...ofTests } satisfies PeriodCounter));
  const account = new Account(team, { ...firstCounts(team.balanceMicro, 0), period }, reservations, rows);
  account.isTeamChanged = account.isPeriodChanged = true;
  writeAccount(account, draft, { settledKeys: new Set(keys.map(({ keyId }) => keyId)) });
}

function deletedOf(account: WholeAccount): DeletedTeam {
  const { teamId, createdAtMs, plan, limits } = account.team;
  const balanceMicro = accountPeriods(account).at(-1)?.credit.balanceMicro ?? 0;
  return { teamId, keepUsage: true, createdAtMs, balanceMicro, plan, limits, erased: true };
}

function slotWrites(subject: string, window: readonly WindowSlots[]): Write[] {
  return [['DEL', slotsOf(subject)], ...manyWrites('RPUSH', slotsOf(subject), slotTimes(window))];
}
