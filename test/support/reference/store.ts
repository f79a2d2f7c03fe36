// The reference store: all accounts in plain lists in memory, which tests compare with the stores of the product. Of the product it has
// only types; what is written once over every store's records, such as glossaries and events, it is given.
import type {
  AuditEntry,
  AuditLog,
  Audited,
  Clock,
  EventWrites,
  FoundKey,
  GroupHead,
  KeyOwner,
  KeyRecord,
  Ledger,
  NewEvent,
} from 'lingate';
import type { PeriodSpan, PeriodUse, RecordName, RecordSpace, Store, StoreUnavailable, Team, TeamPage, TeamRegistry } from 'lingate';
import type { TeamSummary, WholeAccount, WholeAccounts } from 'lingate';
import { Account } from './account.ts';
import type { Record } from './account.ts';
import { DAY_MS } from './calendar.ts';
import { auditIdAt, changedKey, creationOfKey, creationOfTeam, deletionOfTeam, nameless, newestFirst, updateOfKey } from './changes.ts';
import type { Recorded } from './changes.ts';
import { Journal } from './journal.ts';
import { RecordGroup } from './records.ts';

/** What the product writes over the records of any store. */
export interface Layers {
  over(
    records: RecordSpace,
    nowMs: () => number,
  ): Pick<Store, 'records' | 'glossaries' | 'gateways' | 'idempotency' | 'secrets' | 'engineUse' | 'outbox' | 'tags' | 'tagSettings'>;
  eventNames(teamId: string): readonly RecordName[];
  eventWrites(teamId: string, values: readonly (string | undefined)[], nowMs: number, event: NewEvent): EventWrites;
  outlivesTeam(value: string, keepUsage: boolean): boolean;
}

/** A team in a history: an account, or what a deletion has kept of one. */
type Used = Pick<Account, 'team' | 'days' | 'periods' | 'whole'>;

/** The store's data; two stores over the same data are two instances of one store. */
export class ReferenceData {
  /** In order of creation, as are `used`, which includes deleted ones whose usage is kept. */
  accounts: Account[] = [];
  used: Used[] = [];
  owners: { readonly digest: string; readonly owner: KeyOwner }[] = [];
  readonly shared = new RecordGroup();
  /** Newest first. */
  audit: readonly AuditEntry[] = [];

  account(teamId: string): Account | undefined {
    return this.accounts.find(({ team }) => team.teamId === teamId);
  }
}

/** The group of records that belong to no team. */
const SHARED = 'shared';
const NOT_THERE = { kind: 'key_unknown' } as const;

export function referenceOver(layers: Layers, clock: Clock, data: ReferenceData, historyDays: number): Store {
  const journal = recording(layers, data);
  const over = layers.over(recordsOf(data, clock, journal), () => clock.nowMs());
  const used = (teamId: string): Used | undefined => data.used.find(({ team }) => team.teamId === teamId);
  const ledger: Ledger = {
    admit: (request) => data.account(request.teamId)?.admit(request, clock.nowMs()) ?? NOT_THERE,
    check: (check) => data.account(check.teamId)?.check(check, clock.nowMs()) ?? NOT_THERE,
    resolve: (teamId, requestId, verdict, characters) =>
      data.account(teamId)?.resolve(requestId, verdict, clock.nowMs(), characters) ?? { kind: 'absent' },
  };
  return {
    keys: { find: (digest) => data.owners.find((one) => one.digest === digest)?.owner },
    ledger,
    teams: {
      ...teamsOf(data, clock, journal),
      ...keysOf(data, clock, journal),
      deleteTeam: async (teamId, { keepUsage }, by) => {
        const isDeleted = deleteTeam(layers, data, clock.nowMs(), teamId, keepUsage, journal(teamId), by);
        if (isDeleted) await over.idempotency.forgetTeam(teamId);
        return isDeleted;
      },
    },
    accounts: accountsOf(data, journal),
    ...over,
    audit: auditOf(data, clock, historyDays),
    history: {
      days: async (teamId, range) => used(teamId)?.days(range, clock.nowMs()),
      pageDays: async (page, range) => pageOf(data.used, page).map((one) => one.days(range, clock.nowMs())),
      periods: async (teamId) => used(teamId)?.periods(clock.nowMs()),
      pagePeriods: async (page, span) =>
        pageOf(data.used, page).map((one) => {
          const periods = one.periods(clock.nowMs()).filter((period) => isIn(period, span));
          return { team: { ...one.team }, deleted: data.account(one.team.teamId) === undefined, periods: periods.toReversed() };
        }),
    },
    ping: async () => undefined,
    close: async () => undefined,
  };
}

/** A closed one belongs to where its last moment is, an open one wherever it reaches. */
function isIn({ startMs, endMs, closed }: PeriodUse, { fromMs, endMs: untilMs, open }: PeriodSpan): boolean {
  const lastMs = Math.max(startMs, endMs - 1);
  return closed ? fromMs <= lastMs && lastMs < untilMs : open && startMs < untilMs && fromMs < endMs;
}

/** Writes event and audit entry of a change. */
type Journaling = (teamId: string, keyId?: string) => Record;

function recording(layers: Layers, data: ReferenceData): Journaling {
  return (teamId, keyId) =>
    ({ difference, event }, nowMs, by) => {
      if (difference === undefined) return;
      keepEvent(layers, data, nowMs, teamId, event);
      keepEntry(data, nowMs, by, { teamId, keyId, ...difference });
    };
}

/** Nothing if no gateway sends events. */
function keepEvent(layers: Layers, { shared }: ReferenceData, nowMs: number, teamId: string, event: NewEvent | undefined): void {
  if (event !== undefined) shared.write(layers.eventWrites(teamId, shared.values(layers.eventNames(teamId)), nowMs, event));
}

/** Nothing if nobody ordered the change. */
function keepEntry(
  data: ReferenceData,
  nowMs: number,
  by: Audited | undefined,
  changed: Pick<AuditEntry, 'teamId' | 'keyId' | 'before' | 'after'>,
): void {
  if (by === undefined) return;
  const { actor, action, reason } = by;
  const atMs = Math.floor(nowMs);
  const serial = data.audit.filter((entry) => entry.atMs === atMs).map(({ id }) => Number(id.slice(15)));
  const id = auditIdAt(atMs, Math.max(0, ...serial) + 1);
  const entry = { id, atMs, actor, action, ...(reason === undefined ? {} : { reason }), ...changed };
  data.audit = [entry, ...data.audit].toSorted(newestFirst);
}

function teamsOf(
  data: ReferenceData,
  clock: Clock,
  journal: Journaling,
): Omit<TeamRegistry, 'deleteTeam' | 'createKey' | 'updateKey' | 'revokeKey' | 'listKeys' | 'findKeys'> {
  return {
    async createTeam(team, by) {
      const known = data.account(team.teamId);
      if (known !== undefined) return { ...known.team };
      const nowMs = clock.nowMs();
      const created = new Account({ ...team, createdAtMs: nowMs }, journal(team.teamId));
      data.accounts.push(created);
      data.used.push(created);
      journal(team.teamId)(creationOfTeam({ ...created.team }), nowMs, by);
      return { ...created.team };
    },
    listTeams: async () => data.accounts.map(({ team }) => ({ ...team })),
    pageTeams: async (page) => pageOf(data.accounts, page).map(({ team }) => ({ ...team })),
    pageSummaries: async (page) => pageOf(data.accounts, page).map((one) => summaryOf(one, clock.nowMs())),
    async findTeam(teamId) {
      const found = data.account(teamId);
      return found && { ...found.team };
    },
    updateTeam: async (teamId, change, by) => data.account(teamId)?.update(change, clock.nowMs(), by),
    replicated: async () => undefined,
    usage: async (teamId) => data.account(teamId)?.usage(clock.nowMs()),
    standing: async (teamId) => data.account(teamId)?.standing(clock.nowMs()),
  };
}

function keysOf(
  data: ReferenceData,
  clock: Clock,
  journal: Journaling,
): Pick<TeamRegistry, 'createKey' | 'updateKey' | 'revokeKey' | 'listKeys' | 'findKeys'> {
  const change = (keyId: string, by: Audited | undefined, decide: (key: KeyRecord) => KeyRecord): KeyRecord | undefined => {
    const nowMs = clock.nowMs();
    const account = data.accounts.find((one) => one.keys(nowMs).some((key) => key.keyId === keyId));
    const before = account?.head(nowMs, keyId).key;
    if (account === undefined || before === undefined) return undefined;
    account.putKey(decide(before));
    const after = account.head(nowMs, keyId).key!;
    journal(before.teamId, keyId)(updateOfKey(before, after), nowMs, by);
    return after;
  };
  return {
    async createKey(key, by) {
      const [account, nowMs, { digest, limits = {}, ...named }] = [data.account(key.teamId), clock.nowMs(), key];
      const known = account?.head(nowMs, key.keyId).key;
      if (account === undefined || known !== undefined) return known;
      account.putKey({ ...named, limits, status: 'active', createdAtMs: nowMs, lastUsedAtMs: undefined });
      data.owners.push({ digest, owner: { keyId: key.keyId, teamId: key.teamId, mode: key.mode } });
      const created = account.head(nowMs, key.keyId).key!;
      journal(key.teamId, key.keyId)(creationOfKey(key, created), nowMs, by);
      return created;
    },
    updateKey: async (keyId, changed, by) => change(keyId, by, (key) => changedKey(key, changed)),
    revokeKey: async (keyId, by) => change(keyId, by, (key) => ({ ...key, status: 'revoked' })),
    listKeys: async (teamId) => data.account(teamId)?.keys(clock.nowMs()),
    async findKeys(search) {
      const ids = data.owners.filter(({ digest }) => 'digest' in search && digest === search.digest).map(({ owner }) => owner.keyId);
      const isFound = ({ keyId, display }: KeyRecord): boolean => ('digest' in search ? ids.includes(keyId) : display === search.display);
      return data.accounts.flatMap((one) =>
        one
          .keys(clock.nowMs())
          .filter(isFound)
          .map((key): FoundKey => ({ ...key, teamName: one.team.name })),
      );
    },
  };
}

/** Whether there was anything to delete. */
function deleteTeam(
  layers: Layers,
  data: ReferenceData,
  nowMs: number,
  teamId: string,
  keepUsage: boolean,
  record: Record,
  by: Audited | undefined,
): boolean {
  const [account, used] = [data.account(teamId), data.used.find(({ team }) => team.teamId === teamId)];
  if (used === undefined || (keepUsage && account === undefined)) return false;
  const recorded: Recorded = deletionOfTeam(used.team);
  keepEntry(data, nowMs, by, { teamId, keyId: undefined, ...recorded.difference! });
  data.audit = data.audit.map((entry) => (entry.teamId === teamId ? nameless(entry) : entry));
  const { tables } = data.shared;
  for (const [id, value] of tables.get('events') ?? [])
    if (id.startsWith(teamId) && !layers.outlivesTeam(value, keepUsage)) tables.get('events')!.delete(id);
  for (const id of tables.get('reported')?.keys() ?? []) if (id.startsWith(teamId)) tables.get('reported')!.delete(id);
  if (account !== undefined) record(recorded, nowMs, undefined);
  const left = keepUsage ? leftBy(account!, nowMs) : undefined;
  data.used = data.used.flatMap((one) => (one !== used ? one : (left ?? [])));
  data.accounts = data.accounts.filter((one) => one !== account);
  data.owners = data.owners.filter(({ owner }) => owner.teamId !== teamId);
  return true;
}

/** Charges and periods without names: those periods that counted anything. `undefined` if there is nothing. */
function leftBy(account: Account, nowMs: number): Used | undefined {
  // What time alone does is done first.
  account.periods(nowMs);
  const whole = account.whole();
  const { reference: _reference, nextPlan: _nextPlan, ...team } = whole.team;
  const { anchorMs: _anchor, ...running } = whole.period!;
  const endMs = Math.max(running.startMs, Math.min(running.endMs, nowMs));
  const ended = [...whole.ended, { ...running, endMs, plan: team.plan, limits: team.limits }].filter(
    ({ number, addedMicro, deductedMicro }) => addedMicro + deductedMicro > 0 || whole.charges.some(({ period }) => period === number),
  );
  if (ended.length === 0) return undefined;
  return keptOf({
    ...whole,
    team: { ...team, name: '', balanceMicro: 0 },
    period: undefined,
    keys: whole.keys.map((key) => ({ ...key, display: '', label: '', limits: {}, status: 'revoked', lastUsedAtMs: undefined })),
    ended,
    window: [],
    windowCounts: [],
    requests: [],
    changes: [],
    records: [],
  });
}

function keptOf(whole: WholeAccount): Used {
  const { team, keys, ended } = whole;
  const number = (ended.at(-1)?.number ?? 0) + 1;
  const journal = Journal.from(whole, { number, startMs: 0, endMs: 0, anchorMs: 0, addedMicro: 0, deductedMicro: 0 });
  return {
    team,
    days(range) {
      const days = journal.days(
        range,
        keys.map(({ keyId }) => keyId),
      );
      const named = keys.filter(({ keyId }) => days.some((one) => one.keyId === keyId));
      return { team, keys: named.map((key) => ({ ...key, teamId: team.teamId })), days };
    },
    periods() {
      const [, ...periods] = journal.periods({ startMs: 0, endMs: 0 }, team, []);
      return periods.filter(({ characters, credit: { openingMicro, balanceMicro, addedMicro, deductedMicro } }) => {
        return characters > 0 || addedMicro > 0 || deductedMicro > 0 || openingMicro !== balanceMicro;
      });
    },
    whole: () => whole,
  };
}

function pageOf<One extends { readonly team: Team }>(all: readonly One[], { after, limit, search, exact }: TeamPage): readonly One[] {
  const wanted = search?.toLowerCase() ?? '';
  const matches = ({ team: { name, reference = '', teamId } }: One): boolean => {
    const [named, ids] = [[name, reference].map((text) => text.toLowerCase()), teamId.toLowerCase()];
    return exact === true ? named.includes(wanted) : [...named, ids].some((text) => text.includes(wanted));
  };
  // The last team of the page before may have been deleted since: then the page begins with what was created after it.
  const isThere = all.some(({ team }) => team.teamId === after);
  const at = after === undefined ? 0 : all.findIndex(({ team }) => (isThere ? team.teamId === after : team.teamId > after));
  const rest = at === -1 ? [] : all.slice(isThere ? at + 1 : at);
  return rest.filter(matches).slice(0, limit);
}

function summaryOf(account: Account, nowMs: number): TeamSummary {
  const { team, characters, allowanceUsed, keys } = account.usage(nowMs);
  const uses = keys.flatMap(({ lastUsedAtMs }) => lastUsedAtMs ?? []);
  const active = keys.filter(({ status }) => status === 'active');
  const idle = active.map(({ keyId, lastUsedAtMs, createdAtMs }) => ({ keyId, sinceMs: lastUsedAtMs ?? createdAtMs }));
  const [idlestKey] = idle.toSorted((one, other) => one.sinceMs - other.sinceMs || (one.keyId < other.keyId ? -1 : 1));
  const lastUsedAtMs = uses.length === 0 ? undefined : Math.max(...uses);
  return { team, characters, allowanceUsed, activeKeys: active.length, lastUsedAtMs, idlestKey };
}

/** For checks and copies. */
function accountsOf(data: ReferenceData, journal: Journaling): WholeAccounts {
  const replaced = <One extends Used>(all: readonly One[], made: One): One[] => {
    const isThere = all.some(({ team }) => team.teamId === made.team.teamId);
    return isThere ? all.map((one) => (one.team.teamId === made.team.teamId ? made : one)) : [...all, made];
  };
  const digestOf = (keyId: string) => data.owners.find(({ owner }) => owner.keyId === keyId)?.digest;
  return {
    async change(teamId, decide): Promise<StoreUnavailable | undefined> {
      const whole = data.used.find(({ team }) => team.teamId === teamId)?.whole();
      const change = decide(whole && { ...whole, keys: whole.keys.map((key) => ({ ...key, digest: digestOf(key.keyId) })) });
      if (change === undefined) return undefined;
      const { account, attach = [] } = change;
      let made: Used = keptOf(account);
      if (account.period !== undefined) {
        const opened = Account.from(account, account.period, journal(teamId));
        for (const [blobId, pieces] of data.account(teamId)?.records.blobs ?? []) opened.records.blobs.set(blobId, pieces);
        for (const { blobId, pieces } of attach) opened.records.blobs.set(blobId, pieces);
        data.accounts = replaced(data.accounts, opened);
        made = opened;
      }
      data.used = replaced(data.used, made);
      const own = account.keys.flatMap(({ digest, keyId, mode }) =>
        digest === undefined ? [] : { digest, owner: { keyId, teamId, mode } },
      );
      data.owners = [...data.owners.filter(({ owner }) => owner.teamId !== teamId), ...own];
      return undefined;
    },
    async clear() {
      Object.assign(data, { accounts: [], used: [], owners: [], audit: [] });
      data.shared.tables.clear();
      return undefined;
    },
  };
}

function auditOf(data: ReferenceData, clock: Clock, historyDays: number): AuditLog {
  return {
    async page({ teamId, after, sinceMs = 0, limit }) {
      const first = auditIdAt(clock.nowMs() - historyDays * DAY_MS, 0);
      data.audit = data.audit.filter(({ id }) => id >= first);
      const found = data.audit.filter((entry) => entry.atMs >= sinceMs && (teamId === undefined || entry.teamId === teamId));
      return found.filter(({ id }) => after === undefined || id < after).slice(0, limit);
    },
    async forgetNames(teamId) {
      data.audit = data.audit.map((entry) => (entry.teamId === teamId ? nameless(entry) : entry));
      return undefined;
    },
    async restore(entries) {
      const others = entries.filter(({ id }) => data.audit.every((entry) => entry.id !== id));
      data.audit = [...data.audit, ...others].toSorted(newestFirst);
      return undefined;
    },
  };
}

/** Everything that no admission writes. */
function recordsOf(data: ReferenceData, clock: Clock, journal: Journaling): RecordSpace {
  const groupOf = (id: string): RecordGroup | undefined => (id === SHARED ? data.shared : data.account(id)?.records);
  const valuesOf = (id: string, names: readonly RecordName[]) => groupOf(id)?.values(names) ?? names.map(() => undefined);
  return {
    read: async (id, names) => valuesOf(id, names),
    list: async (id, table) => new Map(groupOf(id)?.table(table)),
    page: async (id, { index, from, below, limit }) => {
      const ids = [...(groupOf(id)?.table(index).keys() ?? [])].filter((entry) => from <= entry && entry < below);
      return ids.toSorted().slice(0, limit);
    },
    // Nothing waits in it, so no other change comes in between.
    async change(id, names, decide, keyId) {
      const [group, account, nowMs] = [groupOf(id), data.account(id), clock.nowMs()];
      if (group === undefined) return undefined;
      const head: GroupHead = account?.head(nowMs, keyId) ?? { nowMs, limits: undefined, period: undefined };
      const change = decide(valuesOf(id, names), head);
      group.write(change);
      for (const { blobId, pieces } of change.attach ?? []) group.blobs.set(blobId, pieces);
      for (const blobId of change.detach ?? []) group.blobs.delete(blobId);
      if (change.key !== undefined) {
        const { record, digest } = change.key;
        account!.putKey(record);
        if (digest !== undefined) data.owners.push({ digest, owner: { keyId: record.keyId, teamId: id, mode: record.mode } });
      }
      const { by, before, after } = change.audit ?? {};
      if (before !== undefined && after !== undefined) keepEntry(data, nowMs, by, { teamId: id, keyId, before, after });
      if (change.event !== undefined) journal(id)({ difference: { before: {}, after: {} }, event: change.event }, nowMs, undefined);
      return change.result;
    },
    teamOf: async (keyId) => data.owners.find(({ owner }) => owner.keyId === keyId)?.owner.teamId,
    groupOf: async ({ table, id }) => data.accounts.find(({ records }) => records.get(table, id) !== undefined)?.team.teamId,
    // In memory there is no need to write large ones in pieces.
    prepare: async () => undefined,
    abandon: async () => undefined,
    readBlob: async (id, blobId) => groupOf(id)?.blobs.get(blobId),
  };
}
