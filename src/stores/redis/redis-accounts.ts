// Whole accounts in Redis, for checks, copies and repairs: a team with all that it has, read at one moment and written in its place.
import { answering, storeErrorOf } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import { keySubject } from '../../domain/window-limits.ts';
import type { StoredCounts, WindowSubject } from '../../domain/window-limits.ts';
import type { KeyOwner } from '../../domain/api-key.ts';
import { Account, firstCounts } from '../../ledger/account.ts';
import type { HeldReservation } from '../../ledger/account.ts';
import type { NewBlob, StoredRecord } from '../../ports/record-space.ts';
import type { Standing } from '../../ports/team-registry.ts';
import type { AccountChange, KeyContents, WholeAccount, WholeAccounts, WindowSlots } from '../../ports/whole-accounts.ts';
import { RECORD_TABLES } from '../records/record-tables.ts';
import { accountPeriods, chargedIn, requestsOf } from '../records/usage-rows.ts';
import { scanned } from './redis-connection.ts';
import type { RedisBlobs } from './redis-blobs.ts';
import { digestKey, groupKey, LAYOUT_KEY, OF_TEAM, ownerKey, preparedOf, slotsOf, tableOf } from './redis-keys.ts';
import type { RedisLink, Write } from './redis-link.ts';
import { attachBlob, OVERDUE, setRecord } from './redis-records.ts';
import type { RedisRecords } from './redis-records.ts';
import { endedPeriods, usageRows } from './redis-usage.ts';
import { HashDraft, manyWrites } from './hash-draft.ts';
import { DECISIONS_MAX, HashRows, openAccount, UNSETTLED, writeAccount } from './team-accounts.ts';
import type { TeamAccounts } from './team-accounts.ts';
import type { DeletedTeam } from './redis-team-erasure.ts';
import { chargeFields, countedSlots, FIELD, keyText, readBalance, readCharges, readCounter, readKey, slotTimes } from './team-fields.ts';
import type { PeriodCounter } from './team-fields.ts';
import type { TeamIndex } from './team-index.ts';

interface AccountParts {
  readonly link: RedisLink;
  readonly accounts: TeamAccounts;
  readonly records: RedisRecords;
  readonly blobs: RedisBlobs;
  readonly index: TeamIndex;
}

/** Tables whose records are fields of tables of their own. */
const TABLES = RECORD_TABLES.filter((table) => table !== 'tag_limits' && table !== 'tag_uses');

interface ReadAccount {
  readonly account: WholeAccount | undefined;
  /** Every hash as it was read, by what follows the team's key. */
  readonly hashes: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

export class RedisAccounts implements WholeAccounts {
  readonly #parts: AccountParts;

  constructor(parts: AccountParts) {
    this.#parts = parts;
  }

  change(teamId: string, decide: (account: WholeAccount | undefined) => AccountChange | undefined): Promise<StoreUnavailable | undefined> {
    return answering(async () => {
      for (let decisions = 0; decisions < 10 * DECISIONS_MAX; decisions++) {
        const read = await this.#read(teamId);
        const change = decide(read.account);
        if (change === undefined || (await this.#write(teamId, read, change))) return undefined;
      }
      throw storeErrorOf(UNSETTLED);
    });
  }

  clear(): Promise<StoreUnavailable | undefined> {
    return answering(async () => {
      const { redis } = this.#parts.link;
      for await (const names of scanned(redis, 1000)) {
        for (const name of names) if (name !== LAYOUT_KEY) await this.#parts.link.ask(() => redis.unlink(name));
      }
      return undefined;
    });
  }

  async #read(teamId: string): Promise<ReadAccount> {
    const { link, accounts, records } = this.#parts;
    const draft = await accounts.read(teamId);
    const hashes = new Map<string, ReadonlyMap<string, string>>([['', draft.read]]);
    // At once, because a gateway may change them in between.
    const suffixes = [OF_TEAM.days, OF_TEAM.periods, ...TABLES.map(tableOf)];
    const read = await Promise.all(suffixes.map((suffix) => link.ask((redis) => redis.hgetall(groupKey(teamId) + suffix))));
    for (const [i, suffix] of suffixes.entries()) hashes.set(suffix, new Map(Object.entries(read[i]!)));
    const charges = readCharges(read[0]!);
    const usage = usageRows(draft, charges, endedPeriods(Object.values(read[1]!)), 0);
    if (usage === undefined) return { account: undefined, hashes };
    const slots = async (subject: string) =>
      countedSlots(await link.ask((redis) => redis.lrange(groupKey(teamId) + slotsOf(subject), 0, -1)));
    const { team, ended, openingMicro } = usage;
    const rows = new HashRows(teamId, draft, 0, 0);
    const open = openAccount(draft, rows);
    const keys = rows.keyIds().map(async (keyId) => keyContents(keyId, draft, rows, await slots(keySubject(keyId))));
    const account: WholeAccount = {
      team,
      period: open?.counts.period,
      ended,
      openingMicro,
      charges,
      standing: standingOf(draft, open),
      window: await slots('team'),
      windowCounts: windowCountsOf(draft),
      keys: await Promise.all(keys),
      requests: requestsOf(open),
      changes: [...rows.changes()].map(([id, change]) => ({ id, ...change })),
      records: await this.#recordsOf(teamId, hashes, records),
    };
    return { account, hashes };
  }

  async #recordsOf(teamId: string, hashes: ReadAccount['hashes'], records: RedisRecords): Promise<StoredRecord[]> {
    const plain = TABLES.flatMap((table) => [...hashes.get(tableOf(table))!].map(([id, value]): StoredRecord => ({ table, id, value })));
    for (const table of ['tag_limits', 'tag_uses'] as const) {
      for (const [id, value] of await records.tagTable(teamId, table)) plain.push({ table, id, value });
    }
    return plain;
  }

  /** False if anything has changed since it was read. */
  async #write(teamId: string, { hashes }: ReadAccount, { account, attach = [] }: AccountChange): Promise<boolean> {
    const { link, blobs, index } = this.#parts;
    for (const blob of attach) {
      await blobs.write(teamId, [blob]);
      await blobs.writeSmall(teamId, blob);
    }
    const answer = await link.compare(teamId, {
      fields: [...hashes].flatMap(([suffix, fields]) => [...fields].map(([field, text]) => [suffix, field, text] as const)),
      sizes: [...hashes].map(([suffix, fields]) => [suffix, fields.size] as const),
      present: attach.map(({ blobId }) => preparedOf(blobId)),
      write: accountWrites(account, attach, [...hashes.keys()]),
      frees: false,
    });
    if (answer === 'outdated') return false;
    if (answer === 'incomplete') throw storeErrorOf(OVERDUE);
    for (const { keyId, digest, mode } of account.keys) {
      if (account.period === undefined) break;
      await link.ask((redis) => redis.set(ownerKey(keyId), teamId));
      const owner: KeyOwner = { keyId, teamId, mode };
      if (digest !== undefined) await link.ask((redis) => redis.set(digestKey(digest), JSON.stringify(owner)));
    }
    await index.add(teamId);
    return true;
  }
}

function keyContents(keyId: string, { read }: HashDraft, rows: HashRows, window: readonly WindowSlots[]): KeyContents {
  const { record, digest } = readKey(read.get(FIELD.key(keyId))!);
  const { teamId: _team, ...key } = record;
  const { lastUsedAtMs, held, used: characters, requests } = rows.useOf(keyId);
  return {
    ...key,
    lastUsedAtMs,
    digest,
    characters,
    requests,
    heldCharacters: key.limits.characters === undefined || !read.has(FIELD.period) ? undefined : held,
    window: key.limits.requestsPerSecond === undefined ? [] : window,
  };
}

/** As it is stored, not as it follows from the reservations: the check compares both. */
function standingOf({ read }: HashDraft, account: Account | undefined): Standing {
  const counted = (subject: 'team' | 'test keys') => readCounter(read.get(FIELD.ofPeriod(subject)), account?.counts.period.number ?? 0);
  const [team, tests] = [counted('team'), counted('test keys')];
  const { micro: balanceMicro, held: heldMicro } = readBalance(read.get(FIELD.balance));
  const ofTeam = { usedCharacters: team.used, heldCharacters: team.held, allowanceUsed: tests.used, allowanceHeld: tests.held };
  return { ...ofTeam, balanceMicro, heldMicro, openReservations: account?.reservations.size ?? 0 };
}

function windowCountsOf({ read }: HashDraft): WholeAccount['windowCounts'] {
  return [...read].flatMap(([field, text]) => {
    const subject = /^count:(team|key:.*):windows$/.exec(field)?.[1];
    return subject === undefined ? [] : [{ subject: subject as WindowSubject, counts: JSON.parse(text) as StoredCounts }];
  });
}

/** Everything of the account in place of what the hashes have; `hashes`: what follows the team's key in their names. */
function accountWrites(whole: WholeAccount, attach: readonly NewBlob[], hashes: readonly string[]): Write[] {
  const { team, period, ended, keys, requests, changes, records, charges } = whole;
  const draft = new HashDraft(new Map());
  const { further } = draft;
  const rows = new HashRows(team.teamId, draft, 0, 0);
  draft.put(FIELD.keys, String(keys.length));
  for (const [i, { digest, window, ...key }] of keys.entries()) {
    draft.put(FIELD.key(key.keyId), keyText({ record: recordOf(key, team.teamId), digest, order: i + 1 }));
    if (key.lastUsedAtMs !== undefined) draft.put(FIELD.used(key.keyId), String(key.lastUsedAtMs));
    further.push(...slotWrites(keySubject(key.keyId), window));
  }
  further.push(...slotWrites('team', whole.window));
  const reservations = new Map<string, HeldReservation>();
  for (const { requestId, periodNumber, ...held } of requests)
    reservations.set(requestId, { tickets: undefined, tag: undefined, ...held, period: periodNumber });
  for (const [requestId, held] of reservations) draft.put(FIELD.open(requestId), JSON.stringify(held));
  for (const { id, ...change } of changes) rows.putChange(id, change);
  for (const { subject, counts } of whole.windowCounts) draft.put(FIELD.ofWindows(subject), JSON.stringify(counts));
  for (const { table, id, value } of records) setRecord(draft, team.teamId, { table, id }, value);
  for (const blob of attach) attachBlob(draft, blob);
  for (const one of ended) rows.endPeriod(one);
  const days = charges.flatMap((charge) => chargeFields(charge).flat());
  further.push(...manyWrites('HSET', OF_TEAM.days, days));
  if (period === undefined) draft.put(FIELD.deleted, JSON.stringify(deletedOf(whole)));
  else {
    putUsed(whole, period.number, draft);
    const account = new Account(team, { ...firstCounts(team.balanceMicro, 0), period }, reservations, rows);
    account.isTeamChanged = account.isPeriodChanged = true;
    writeAccount(account, draft, new Set(keys.map(({ keyId }) => keyId)));
  }
  return [...hashes.map((suffix): Write => ['DEL', suffix]), ...draft.writes];
}

function deletedOf(account: WholeAccount): DeletedTeam {
  const { teamId, createdAtMs, plan, limits } = account.team;
  const balanceMicro = accountPeriods(account).at(-1)?.credit.balanceMicro ?? 0;
  return { teamId, keepUsage: true, createdAtMs, balanceMicro, plan, limits };
}

function recordOf(key: Omit<KeyContents, 'digest' | 'window'>, teamId: string) {
  const { keyId, display, label, mode, status, limits, createdAtMs } = key;
  return { keyId, teamId, display, label, mode, status, limits, createdAtMs };
}

/** What is used follows from the charges. */
function putUsed({ keys, charges }: WholeAccount, number: number, draft: HashDraft): void {
  const put = (subject: WindowSubject | 'test keys', used: number, requests: number): void =>
    draft.put(FIELD.ofPeriod(subject), JSON.stringify({ period: number, used, held: 0, requests } satisfies PeriodCounter));
  const ofTeam = chargedIn(charges, number);
  put('team', ofTeam.characters, ofTeam.requests);
  put('test keys', ofTeam.ofAllowance, 0);
  for (const { keyId } of keys) {
    const { characters, requests } = chargedIn(
      charges.filter((one) => one.keyId === keyId),
      number,
    );
    put(keySubject(keyId), characters, requests);
  }
}

function slotWrites(subject: string, window: readonly WindowSlots[]): Write[] {
  return [['DEL', slotsOf(subject)], ...manyWrites('RPUSH', slotsOf(subject), slotTimes(window))];
}
