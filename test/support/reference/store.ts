// The reference store: all accounts in plain lists in memory, which tests compare with the stores of the product. Of the product it has
// only types; what is written once over every store's records, such as glossaries and events, it is given.
import type {
  AuditedChange,
  Audited,
  Clock,
  FoundKey,
  GroupHead,
  KeyOwner,
  KeyRecord,
  Ledger,
  NewEvent,
  PeriodSpan,
  PeriodUse,
} from 'lingate';
import type { RecordName, RecordSpace, Store, StoreUnavailable, Team, TeamPage, TeamRegistry, TeamSpace } from 'lingate';
import type { WholeAccount, WholeAccounts } from 'lingate';
import type * as Product from 'lingate';
import { Account } from './account.ts';
import { Journal } from './journal.ts';
import { RecordGroup } from './records.ts';

/** What the product writes over the records of any store, and says of changes. */
export type Layers = Pick<
  typeof Product,
  | 'overRecords'
  | 'eventNames'
  | 'eventWrites'
  | 'auditEntry'
  | 'auditWrites'
  | 'idBefore'
  | 'reportOf'
  | 'teamRegistry'
  | 'teamSummary'
  | 'deletionEvent'
  | 'forgetTeam'
>;

/** A team in a history: an account, or what a deletion has left of one. */
type Used = Pick<Account, 'team' | 'days' | 'periods' | 'whole'>;

/** The store's data; two stores over the same data are two instances of one store. */
export class ReferenceData {
  /** In order of creation, as are `used`, which includes deleted ones whose usage stays. */
  accounts: Account[] = [];
  used: Used[] = [];
  owners: { readonly digest: string; readonly owner: KeyOwner }[] = [];
  readonly shared = new RecordGroup();

  account(teamId: string): Account | undefined {
    return this.accounts.find(({ team }) => team.teamId === teamId);
  }
}

/** The group of records that belong to no team. */
const SHARED = 'shared';
const NO_TEAMS = {} as TeamSpace;
const NOT_THERE = { kind: 'key_unknown' } as const;

export function referenceOver(layers: Layers, clock: Clock, data: ReferenceData, historyDays: number): Store {
  const reports = new Reports(layers, data);
  const over = layers.overRecords(recordsOf(data, clock, reports), () => clock.nowMs(), historyDays);
  // Of these the operations with keys, which are over the records; all else is the reference's own.
  const registry = layers.teamRegistry(NO_TEAMS, over.records, async () => false);
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
      ...registry,
      ...teamsOf(layers, data, clock, reports),
      deleteTeam: async (teamId, { keepUsage }, by) => {
        const isDeleted = deleteTeam(data, clock.nowMs(), teamId, keepUsage, reports, by);
        return (await layers.forgetTeam(teamId, keepUsage, over)) ?? isDeleted;
      },
    },
    accounts: accountsOf(data, reports),
    ...over,
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
class Reports {
  readonly #layers: Layers;
  readonly #data: ReferenceData;

  constructor(layers: Layers, data: ReferenceData) {
    this.#layers = layers;
    this.#data = data;
  }

  /** Of a team, or of its creation. */
  changed(before: Team | undefined, after: Team, nowMs: number, by: Audited | undefined): void {
    const [difference, event] = this.#layers.reportOf(before, after);
    if (difference === undefined) return;
    this.event(after.teamId, event, nowMs);
    this.entry(by, { ...difference, teamId: after.teamId }, nowMs);
  }

  deleted({ teamId, plan }: Team, nowMs: number, by: Audited | undefined, wasThere: boolean): void {
    this.entry(by, { before: { plan }, after: {}, teamId }, nowMs);
    if (wasThere) this.event(teamId, this.#layers.deletionEvent(teamId), nowMs);
  }

  /** Nothing if no gateway sends events. */
  event(teamId: string, event: NewEvent, nowMs: number): void {
    const [{ shared }, { eventNames, eventWrites }] = [this.#data, this.#layers];
    shared.write(eventWrites(teamId, shared.values(eventNames(teamId)), nowMs, event));
  }

  /** Nothing if nobody ordered the change. */
  entry(by: Audited | undefined, change: AuditedChange, nowMs: number): void {
    if (by === undefined) return;
    const [{ shared }, { auditEntry, auditWrites, idBefore }] = [this.#data, this.#layers];
    const soFar = [...shared.table('audit').keys()].filter((id) => id < idBefore(nowMs + 1)).toSorted();
    shared.write(auditWrites(auditEntry(by, change, nowMs, soFar.at(-1))));
  }
}

function teamsOf(
  { teamSummary }: Layers,
  data: ReferenceData,
  clock: Clock,
  reports: Reports,
): Omit<TeamRegistry, 'deleteTeam' | 'createKey' | 'updateKey' | 'revokeKey'> {
  return {
    async createTeam(team, by) {
      const known = data.account(team.teamId);
      if (known !== undefined) return { ...known.team };
      const nowMs = clock.nowMs();
      const created = new Account({ ...team, createdAtMs: nowMs }, reports.changed.bind(reports));
      data.accounts.push(created);
      data.used.push(created);
      reports.changed(undefined, { ...created.team }, nowMs, by);
      return { ...created.team };
    },
    listTeams: async () => data.accounts.map(({ team }) => ({ ...team })),
    pageTeams: async (page) => pageOf(data.accounts, page).map(({ team }) => ({ ...team })),
    pageSummaries: async (page) => pageOf(data.accounts, page).map((one) => teamSummary(one.usage(clock.nowMs()))),
    async findTeam(teamId) {
      const found = data.account(teamId);
      return found && { ...found.team };
    },
    updateTeam: async (teamId, change, by) => data.account(teamId)?.update(change, clock.nowMs(), by),
    replicated: async () => undefined,
    usage: async (teamId) => data.account(teamId)?.usage(clock.nowMs()),
    standing: async (teamId) => data.account(teamId)?.standing(clock.nowMs()),
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
  data: ReferenceData,
  nowMs: number,
  teamId: string,
  keepUsage: boolean,
  reports: Reports,
  by: Audited | undefined,
): boolean {
  const [account, used] = [data.account(teamId), data.used.find(({ team }) => team.teamId === teamId)];
  if (used === undefined || (keepUsage && account === undefined)) return false;
  reports.deleted(used.team, nowMs, by, account !== undefined);
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
  return usedOf({
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

function usedOf(whole: WholeAccount): Used {
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
  const expected = search?.toLowerCase() ?? '';
  const matches = ({ team: { name, reference = '', teamId } }: One): boolean => {
    const [named, ids] = [[name, reference].map((text) => text.toLowerCase()), teamId.toLowerCase()];
    return exact === true ? named.includes(expected) : [...named, ids].some((text) => text.includes(expected));
  };
  // The last team of the page before may have been deleted since: then the page begins with what was created after it.
  const isThere = all.some(({ team }) => team.teamId === after);
  const at = after === undefined ? 0 : all.findIndex(({ team }) => (isThere ? team.teamId === after : team.teamId > after));
  const rest = at === -1 ? [] : all.slice(isThere ? at + 1 : at);
  return rest.filter(matches).slice(0, limit);
}

/** For checks and copies. */
function accountsOf(data: ReferenceData, reports: Reports): WholeAccounts {
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
      let made: Used = usedOf(account);
      if (account.period !== undefined) {
        const opened = Account.from(account, account.period, reports.changed.bind(reports));
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
      Object.assign(data, { accounts: [], used: [], owners: [] });
      data.shared.tables.clear();
      return undefined;
    },
  };
}

/** Everything that no admission writes. */
function recordsOf(data: ReferenceData, clock: Clock, reports: Reports): RecordSpace {
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
      if (change.audit !== undefined) reports.entry(change.audit.by, { ...change.audit, teamId: id, ...(keyId && { keyId }) }, nowMs);
      if (change.event !== undefined) reports.event(id, change.event, nowMs);
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
