// A store in one file, in the memory of its process, with plain arrays and linear scans, written only from the comments of the types.
// It passes the contract in `lingate/testing`, and the gateway's own stores are compared with it on random histories.
import Type from 'typebox';
import {
  definePlugin,
  RATE_WINDOW_MS,
  REMEMBER_MS,
  SHARED_RECORDS,
  allowsAddress,
  auditEntry,
  chargeSums,
  costMicro,
  dayOf,
  decideTeamChange,
  deletionEvent,
  eventNames,
  eventWrites,
  HISTORY_DAYS,
  idBefore,
  keyRegistry,
  keySubject,
  minorRoundedDown,
  minorRoundedUp,
  overRecords,
  parseDuration,
  isInSpan,
  movedCredit,
  outlivesTeam,
  periodAt,
  readPairs,
  readTagSettings,
  RecordOutbox,
  sameLength,
  tagSubject,
  TagUses,
  teamDifference,
  teamEvent,
  tooSmallWindow,
  windowAt,
  windowedSubjects,
  windowLimits,
  windowRefusal as refusalByWindow,
  windowStandings,
  withNextPlan,
  withoutNames,
} from 'lingate';
import type {
  Admission,
  AdmissionRequest,
  AuditDifference,
  Audited,
  AuditEntry,
  AuditLog,
  BalanceOutOfBounds,
  CallerCheck,
  CheckedCaller,
  Clock,
  CreditExhausted,
  CreditNotFree,
  DayRange,
  EntryPieces,
  ExceededWindow,
  GlossaryReference,
  GroupChange,
  GroupHead,
  KeyDay,
  KeyOwner,
  KeyRecord,
  KeyUsage,
  Micro,
  NewEvent,
  NewTeam,
  OtherRequest,
  Period,
  PeriodUse,
  Placed,
  PluginLedger,
  QuotaExceeded,
  RecordName,
  RecordSpace,
  RecordTable,
  RequestContents,
  RequestTag,
  Reservation,
  Resolution,
  Standing,
  Store,
  StoreUnavailable,
  TagSettings,
  Team,
  TeamChange,
  TeamDays,
  TeamLimits,
  TeamPage,
  TeamRegistry,
  TeamSummary,
  Usage,
  Verdict,
  WholeAccount,
  WholeAccounts,
  WindowedSubject,
  WindowLimit,
  WindowName,
  WindowStanding,
  WindowSubject,
  WindowTickets,
  WindowUse,
} from 'lingate';

/** The store's data; two stores over the same data are two instances of one store. */
export interface ReferenceData {
  readonly accounts: ReferenceAccount[];
  /** Teams in order of creation, including deleted ones if their usage is kept. */
  readonly used: UsedAccount[];
  readonly owners: { readonly digest: string; readonly owner: KeyOwner }[];
  readonly shared: RecordGroup;
  /** Newest first. */
  audit: readonly AuditEntry[];
}

/** Records by table, the ids of indexes, and blobs. */
class RecordGroup {
  readonly tables = new Map<string, Map<string, string>>();
  readonly blobs = new Map<string, EntryPieces>();

  put(table: string, id: string, value: string): void {
    this.tables.set(table, (this.tables.get(table) ?? new Map<string, string>()).set(id, value));
  }

  values(names: readonly RecordName[]): (string | undefined)[] {
    return names.map(({ table, id }) => this.tables.get(table)?.get(id));
  }

  write({ remove = [], unindex = [], put = [], index = [] }: Omit<GroupChange<unknown>, 'result'>): void {
    for (const { table, id } of remove) this.tables.get(table)?.delete(id);
    for (const entry of unindex) this.tables.get(entry.index)?.delete(entry.id);
    for (const { table, id, value } of put) this.put(table, id, value);
    for (const entry of index) this.put(entry.index, entry.id, '');
  }
}

export function emptyData(): ReferenceData {
  return { accounts: [], used: [], owners: [], shared: new RecordGroup(), audit: [] };
}

export function referenceStore(clock: Clock, data: ReferenceData = emptyData(), historyDays = HISTORY_DAYS): Store {
  const account = (teamId: string) => data.accounts.find((one) => one.team.teamId === teamId);
  const used = (teamId: string) => data.used.find((one) => one.team.teamId === teamId);
  const over = overRecords(recordsOf(data, account, clock), () => clock.nowMs());
  return {
    keys: { find: (digest) => data.owners.find((one) => one.digest === digest)?.owner },
    ledger: ledgerOf(account, clock),
    teams: registryOf(data, account, clock, over),
    accounts: accountsOf(data),
    ...over,
    outbox: new RecordOutbox(over.records),
    audit: auditOf(data, clock, historyDays),
    history: {
      days: async (teamId, range) => used(teamId)?.days(range, clock.nowMs()),
      pageDays: async (page, range) => pageOf(data.used, page).map((one) => one.days(range, clock.nowMs())),
      periods: async (teamId) => used(teamId)?.periods(clock.nowMs()),
      pagePeriods: async (page, span) =>
        pageOf(data.used, page).map((one) => ({
          team: { ...one.team },
          deleted: account(one.team.teamId) === undefined,
          periods: one
            .periods(clock.nowMs())
            .filter((period) => isInSpan(period, span))
            .toReversed(),
        })),
    },
    ping: () => Promise.resolve(undefined),
    close: () => Promise.resolve(),
  };
}

type FindAccount = (teamId: string) => ReferenceAccount | undefined;

function ledgerOf(account: FindAccount, clock: Clock): PluginLedger {
  return {
    admit: (request) => account(request.teamId)?.admit(request, clock.nowMs()) ?? { kind: 'key_unknown' },
    check: (check) => account(check.teamId)?.check(check, clock.nowMs()) ?? { kind: 'key_unknown' },
    resolve: (teamId, requestId, verdict, characters) =>
      account(teamId)?.resolve(requestId, verdict, clock.nowMs(), characters) ?? { kind: 'absent' },
  };
}

function registryOf(
  data: ReferenceData,
  account: FindAccount,
  clock: Clock,
  { records, idempotency: requests }: Pick<Store, 'records' | 'idempotency'>,
): TeamRegistry {
  return {
    ...keyRegistry(records),
    async createTeam(team, by) {
      const known = account(team.teamId);
      if (known !== undefined) return { ...known.team };
      const created = new ReferenceAccount(team, clock.nowMs(), recording(data));
      data.accounts.push(created);
      data.used.push(created);
      recordChange(data, clock.nowMs(), by, team.teamId, teamDifference(undefined, team), teamEvent('team_created', { ...created.team }));
      return { ...created.team };
    },
    listTeams: async () => data.accounts.map((one) => ({ ...one.team })),
    pageTeams: async (page) => pageOf(data.accounts, page).map((one) => ({ ...one.team })),
    pageSummaries: async (page) => pageOf(data.accounts, page).map((one) => summaryOf(one, clock.nowMs())),
    async findTeam(teamId) {
      const found = account(teamId);
      return found === undefined ? undefined : { ...found.team };
    },
    updateTeam: async (teamId, change, by) => account(teamId)?.update(change, clock.nowMs(), by),
    async deleteTeam(teamId, { keepUsage }, by) {
      const [at, usedAt] = [data.accounts, data.used].map((all) => all.findIndex(({ team }) => team.teamId === teamId)) as [number, number];
      if (usedAt === -1 || (keepUsage && at === -1)) return false;
      recordChange(data, clock.nowMs(), by, teamId, { before: { plan: data.used[usedAt]!.team.plan }, after: {} });
      forgetNames(data, teamId);
      forgetEvents(data.shared, teamId, keepUsage);
      if (at !== -1) keepEvent(data, clock.nowMs(), teamId, deletionEvent(teamId));
      const left = keepUsage ? leftBy(data.accounts[at]!, clock.nowMs()) : undefined;
      data.used.splice(usedAt, 1, ...(left === undefined ? [] : [left]));
      if (at === -1) return true;
      data.accounts.splice(at, 1);
      data.owners.splice(0, Infinity, ...data.owners.filter(({ owner }) => owner.teamId !== teamId));
      await requests.forgetTeam(teamId);
      return true;
    },
    listKeys: async (teamId) => account(teamId)?.keys(clock.nowMs()),
    replicated: async () => undefined,
    findKeys: async (search) => {
      const ids =
        'digest' in search ? data.owners.filter(({ digest }) => digest === search.digest).map(({ owner }) => owner.keyId) : undefined;
      const wanted = (key: KeyRecord): boolean => ('display' in search ? key.display === search.display : ids!.includes(key.keyId));
      return data.accounts.flatMap((one) =>
        one
          .keys(clock.nowMs())
          .filter(wanted)
          .map((key) => ({ ...key, teamName: one.team.name })),
      );
    },
    usage: async (teamId) => account(teamId)?.usage(clock.nowMs()),
    standing: async (teamId) => account(teamId)?.standing(clock.nowMs()),
  };
}

/** Keeps entry and event of a change, in the same turn as the change. */
function recordChange(
  data: ReferenceData,
  nowMs: number,
  by: Audited | undefined,
  teamId: string,
  difference: AuditDifference | undefined,
  event?: NewEvent,
  keyId?: string,
): void {
  if (difference === undefined) return;
  if (event !== undefined) keepEvent(data, nowMs, teamId, event);
  if (by === undefined) return;
  const last = data.audit.find(({ atMs }) => atMs <= nowMs)?.id;
  const entry = auditEntry(by, { teamId, ...(keyId === undefined ? {} : { keyId }), ...difference }, nowMs, last);
  data.audit = [entry, ...data.audit].toSorted(newestFirst);
}

function recording(data: ReferenceData): RecordChange {
  return (...change) => recordChange(data, ...change);
}

type RecordChange = (
  nowMs: number,
  by: Audited | undefined,
  teamId: string,
  difference: AuditDifference | undefined,
  event: NewEvent,
  keyId?: string,
) => void;

/** In the same turn as what it tells of; not if no gateway sends events. */
function keepEvent({ shared }: ReferenceData, nowMs: number, teamId: string, event: NewEvent): void {
  shared.write(eventWrites(teamId, shared.values(eventNames(teamId)), nowMs, event));
}

function forgetEvents({ tables }: RecordGroup, teamId: string, keepUsage: boolean): void {
  const [events, told] = [tables.get('events') ?? new Map<string, string>(), tables.get('told')];
  for (const [id, value] of events) if (id.startsWith(teamId) && !outlivesTeam(value, keepUsage)) events.delete(id);
  for (const id of told?.keys() ?? []) if (id.startsWith(teamId)) told!.delete(id);
}

function newestFirst(one: AuditEntry, other: AuditEntry): number {
  return one.id > other.id ? -1 : 1;
}

function forgetNames(data: ReferenceData, teamId: string): void {
  data.audit = data.audit.map((entry) => {
    if (entry.teamId !== teamId) return entry;
    const { id, atMs, ...named } = entry;
    return { id, atMs, teamId, ...withoutNames(named) };
  });
}

function auditOf(data: ReferenceData, clock: Clock, historyDays: number): AuditLog {
  return {
    async page({ teamId, after, sinceMs = 0, limit }) {
      data.audit = data.audit.filter(({ id }) => id >= idBefore(clock.nowMs() - historyDays * DAY_MS));
      const wanted = data.audit.filter((entry) => (teamId === undefined || entry.teamId === teamId) && entry.atMs >= sinceMs);
      return wanted.filter(({ id }) => after === undefined || id < after).slice(0, limit);
    },
    async forgetNames(teamId) {
      forgetNames(data, teamId);
      return undefined;
    },
    async restore(entries) {
      const known = new Set(data.audit.map(({ id }) => id));
      data.audit = [...data.audit, ...entries.filter(({ id }) => !known.has(id))].toSorted(newestFirst);
      return undefined;
    },
  };
}

/** For checks and copies. */
function accountsOf(data: ReferenceData): WholeAccounts {
  const isOf = (teamId: string) => (one: UsedAccount) => one.team.teamId === teamId;
  const putIn = <Account extends UsedAccount>(all: Account[], made: Account): void => {
    const at = all.findIndex(isOf(made.team.teamId));
    all.splice(at === -1 ? all.length : at, 1, made);
  };
  const digestOf = (id: string) => data.owners.find(({ owner }) => owner.keyId === id)?.digest;
  return {
    async change(teamId, decide) {
      const found = data.used.find(isOf(teamId))?.whole();
      const change = decide(found && { ...found, keys: found.keys.map((key) => ({ ...key, digest: digestOf(key.keyId) })) });
      if (change === undefined) return undefined;
      const { account, attach = [] } = change;
      const made = account.period === undefined ? keptOf(account) : ReferenceAccount.of(account, account.period, recording(data));
      if (made instanceof ReferenceAccount) {
        const before = data.accounts.find(isOf(teamId))?.records.blobs ?? [];
        for (const [blobId, pieces] of before) made.records.blobs.set(blobId, pieces);
        for (const { blobId, pieces } of attach) made.records.blobs.set(blobId, pieces);
        putIn(data.accounts, made);
      }
      putIn<UsedAccount>(data.used, made);
      const others = data.owners.filter(({ owner }) => owner.teamId !== teamId);
      const own = account.keys.flatMap(({ digest, keyId, mode }) =>
        digest === undefined ? [] : { digest, owner: { keyId, teamId, mode } },
      );
      data.owners.splice(0, Infinity, ...others, ...own);
      return undefined;
    },
    async clear() {
      for (const all of [data.accounts, data.used, data.owners]) all.length = 0;
      data.shared.tables.clear();
      data.audit = [];
      return undefined;
    },
  };
}

/** A team in a history. */
type UsedAccount = Pick<ReferenceAccount, 'team' | 'days' | 'periods' | 'whole'>;

/** Closed periods and days without names; `undefined` if there are none. */
function leftBy(account: ReferenceAccount, nowMs: number): UsedAccount | undefined {
  const periods = account
    .periods(nowMs)
    .map((period, i) => ({
      ...period,
      closed: true,
      keys: undefined,
      endMs: i === 0 ? Math.max(period.startMs, Math.min(period.endMs, nowMs)) : period.endMs,
    }))
    .filter(({ characters, credit }) => characters > 0 || movedCredit(credit));
  const whole = account.whole();
  if (whole.days.length + periods.length === 0) return undefined;
  const { reference: _reference, nextPlan: _nextPlan, ...kept } = whole.team;
  const keys = whole.keys.map((key) => ({
    ...key,
    display: '',
    label: '',
    limits: {},
    status: 'revoked' as const,
    lastUsedAtMs: undefined,
  }));
  const nothing = { window: [], windowCounts: [], requests: [], changes: [], records: [] };
  const team = { ...kept, name: '', balanceMicro: 0 };
  return keptOf({ ...whole, ...nothing, team, period: undefined, keys, periods: periods.toReversed() });
}

function keptOf(whole: WholeAccount): UsedAccount {
  const { team, keys, days, periods } = whole;
  return {
    team,
    days({ from, to }) {
      const found = days.filter(({ day }) => day >= from && day <= to).toSorted((one, other) => one.day - other.day);
      const used = keys.filter(({ keyId }) => found.some((one) => one.keyId === keyId));
      return { team, keys: used.map((key) => ({ ...key, teamId: team.teamId })), days: found };
    },
    periods: () => periods.map(({ keys: _keys, ...period }) => period).toReversed(),
    whole: () => whole,
  };
}

function pageOf<Account extends Pick<ReferenceAccount, 'team'>>(
  accounts: readonly Account[],
  { after, limit, search, exact }: TeamPage,
): readonly Account[] {
  const wanted = (search ?? '').toLowerCase();
  const has = (text = ''): boolean => (exact === true ? text.toLowerCase() === wanted : text.toLowerCase().includes(wanted));
  const at = accounts.findIndex(({ team }) => team.teamId === after);
  const gone = after !== undefined && at === -1;
  const next = gone ? accounts.findIndex(({ team }) => team.teamId > after) : at + 1;
  const rest = next === -1 ? [] : accounts.slice(next);
  return rest.filter(({ team }) => has(team.name) || has(team.reference) || (exact !== true && has(team.teamId))).slice(0, limit);
}

/** Opens the current period, as every access to an account does here. */
function summaryOf(account: ReferenceAccount, nowMs: number): TeamSummary {
  const { team, characters, allowanceUsed } = account.usage(nowMs);
  const keys = account.keys(nowMs);
  const uses = keys.map(({ lastUsedAtMs }) => lastUsedAtMs).filter((atMs) => atMs !== undefined);
  const active = keys
    .filter(({ status }) => status === 'active')
    .map((key) => ({ keyId: key.keyId, sinceMs: key.lastUsedAtMs ?? key.createdAtMs }));
  const [idlestKey] = active.toSorted((a, b) => a.sinceMs - b.sinceMs || (a.keyId < b.keyId ? -1 : 1));
  return {
    team: { ...team },
    characters,
    allowanceUsed,
    activeKeys: active.length,
    lastUsedAtMs: uses.length === 0 ? undefined : Math.max(...uses),
    idlestKey,
  };
}

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

/** What is known of an id: an open reservation, or the result for the id and until when it is remembered. */
type Entry =
  | {
      kind: 'open';
      requestId: string;
      reservation: Reservation;
      keyId: string;
      priceMicro: number;
      ofAllowance: boolean;
      period: Period;
      windows: CountedIn[];
      tickets: WindowTickets;
      tag: RequestTag | undefined;
      tagTicket: number;
    }
  | { kind: 'committed' | 'released' | 'expired'; requestId: string; forgetAtMs: number };

/** The stored status is `active` until the key is revoked; `disabled` and `expired` are computed when the key is shown. */
type ModelKey = Mutable<KeyUsage> & { disabled: boolean; places: number[] };

type Open = Extract<Entry, { kind: 'open' }>;

/** What was counted in a window of a team or a key. A reservation knows those in which it was counted. */
interface CountedIn {
  readonly per: WindowName;
  startMs: number;
  endMs: number;
  /** How many requests were counted before it began. */
  from: number;
  requests: number;
  characters: number;
  told: boolean;
}

/** All that was counted of a team or a key. */
interface Counts {
  tickets: number;
  readonly windows: CountedIn[];
}

/** A team or a key with limits by minute to month. */
interface Windowed {
  readonly of?: 'key';
  readonly subject: WindowSubject;
  readonly limits: readonly WindowLimit[];
  readonly counts: Counts;
  readonly windows: CountedIn[];
}

/** A request's tag with settings, and what is used of them. */
interface TagWithSettings {
  readonly name: string;
  readonly settings: TagSettings;
  readonly uses: TagUses;
}

/** A Monday, and the first day of a month and of a year, so periods counted from it are calendar periods. */
const FIRST_OF_ALL = Date.UTC(1900, 0, 1);
const DAY_MS = 86_400_000;

/** Every method takes `nowMs`: an operation reads the clock once. */
export class ReferenceAccount {
  team: Mutable<Team>;
  readonly records = new RecordGroup();
  readonly #keys: ModelKey[] = [];
  /** Periods are counted from here: the creation, or the last change of their length. */
  #anchorMs: number;
  /** Compared by identity: another period may have the same length and start. */
  #period: Period;
  #history = new ReferenceHistory();
  /** By their ids. */
  readonly #changes = new Map<string, { readonly request: string; readonly untilMs: number }>();
  #places: number[] = [];
  readonly #counts = new Map<WindowSubject, Counts>();
  #entries: Entry[] = [];
  readonly #record: RecordChange;

  constructor(team: NewTeam, nowMs: number, onChange: RecordChange) {
    this.#record = onChange;
    this.team = { ...team, createdAtMs: nowMs };
    this.#anchorMs = nowMs;
    this.#period = this.#periodAt(nowMs);
    this.#history.move(this.#period, team.balanceMicro);
  }

  /** Takes over an account of another store. */
  static of(account: WholeAccount, period: NonNullable<WholeAccount['period']>, onChange: RecordChange): ReferenceAccount {
    const { team, keys, requests } = account;
    const { teamId } = team;
    const made = new ReferenceAccount(team, team.createdAtMs, onChange);
    made.#anchorMs = period.anchorMs;
    made.#period = { startMs: period.startMs, endMs: period.endMs };
    made.#history = ReferenceHistory.of(account, period, made.#period);
    made.#places = placesOf(account.window);
    for (const { subject, counts } of account.windowCounts)
      made.#counts.set(subject, { ...counts, windows: counts.windows.map((window) => ({ ...window })) });
    for (const { digest: _digest, heldCharacters: _held, window, status, ...key } of keys) {
      const state = { status: status === 'revoked' ? status : ('active' as const), disabled: status === 'disabled' };
      made.#keys.push({ ...key, teamId, ...state, places: placesOf(window) });
    }
    for (const { requestId, state, untilMs, keyId = '', characters, periodNumber, tag, tickets = {}, ...held } of requests) {
      if (state !== 'open') {
        made.#entries.push({ kind: state, requestId, forgetAtMs: untilMs });
        continue;
      }
      const windows = [...made.#counts].flatMap(([subject, counts]) => counts.windows.filter(({ from }) => (tickets[subject] ?? 0) > from));
      const tagTicket = tag === undefined ? 0 : (tickets[tagSubject(tag.name)] ?? 0);
      const counted = { period: made.#history.numbered(periodNumber) ?? made.#period, windows, tickets, tag, tagTicket };
      const reservation = { requestId, teamId, characters, leaseUntilMs: untilMs };
      made.#entries.push({ kind: 'open', requestId, reservation, keyId, ...held, ...counted });
    }
    for (const { id, ...change } of account.changes) made.#changes.set(id, change);
    for (const { table, id, value } of account.records) made.records.put(table, id, value);
    return made;
  }

  /** As it is: what time has done is not applied. */
  whole(): WholeAccount {
    const open = this.#entries.filter((entry) => entry.kind === 'open');
    const isOpen = (period: Period) => open.some((entry) => entry.period === period);
    const [running, ...past] = this.#history.periods(this.#period, this.team, isOpen);
    const heldBy = (id: string) =>
      sum(open.map((one) => (one.keyId === id && one.period === this.#period ? one.reservation.characters : 0)));
    const lengthOf = ({ startMs, endMs }: CountedIn) => endMs - startMs;
    return {
      team: { ...this.team },
      period: { number: this.#history.runningNumber, ...this.#period, anchorMs: this.#anchorMs, credit: running!.credit },
      standing: this.#standing(),
      window: slotsOf(this.#places),
      windowCounts: [...this.#counts].map(([subject, { tickets, windows }]) => {
        const shortestFirst = windows.toSorted((one, other) => lengthOf(one) - lengthOf(other));
        return { subject, counts: { tickets, windows: shortestFirst.map((window) => ({ ...window })) } };
      }),
      keys: this.#keys.map(({ teamId: _teamId, places, disabled, ...key }) => ({
        ...key,
        status: disabled && key.status !== 'revoked' ? 'disabled' : key.status,
        digest: undefined,
        heldCharacters: key.limits.characters === undefined ? undefined : heldBy(key.keyId),
        window: slotsOf(places),
      })),
      days: this.days({ from: 0, to: Infinity }, 0).days,
      periods: past.toReversed().map((period) => ({ ...period, keys: undefined })),
      requests: this.#entries.map((entry) => this.#request(entry)),
      changes: [...this.#changes].map(([id, change]) => ({ id, ...change })),
      records: [...this.records.tables].flatMap(([table, records]) =>
        [...records].map(([id, value]) => ({ table: table as RecordTable, id, value })),
      ),
    };
  }

  #request(entry: Entry): RequestContents {
    const { requestId, kind: state } = entry;
    const nothing = { keyId: undefined, characters: 0, priceMicro: 0, periodNumber: undefined, ofAllowance: false };
    if (entry.kind !== 'open') return { requestId, state, untilMs: entry.forgetAtMs, ...nothing };
    const { reservation, keyId, priceMicro, ofAllowance, tag } = entry;
    const tickets = { ...entry.tickets, ...(entry.tagTicket === 0 ? {} : { [tagSubject(tag!.name)]: entry.tagTicket }) };
    const counted = Object.keys(tickets).length === 0 ? { tag } : { tag, tickets };
    const { characters, leaseUntilMs: untilMs } = reservation;
    return {
      requestId,
      state,
      untilMs,
      keyId,
      characters,
      priceMicro,
      periodNumber: this.#history.numberOf(entry.period),
      ofAllowance,
      ...counted,
    };
  }

  admit(request: AdmissionRequest, nowMs: number): Admission {
    this.#catchUp(nowMs);
    const entry = this.#entry(request.requestId);
    if (entry?.kind === 'open') {
      return { kind: 'admitted', reservation: entry.reservation, ...(request.reportPlan === true ? { plan: this.team.plan } : {}) };
    }
    if (entry !== undefined) return { kind: 'repeated' };
    const reserved = request.reserve && request.characters !== undefined ? (request.charged ?? request.characters) : undefined;
    const caller = this.#caller(request, nowMs, reserved);
    if (caller.kind !== 'admitted') return caller;
    const key = this.#keys.find((one) => one.keyId === request.keyId)!;
    const isLive = (place: number): boolean => nowMs - place < RATE_WINDOW_MS;
    this.#places = [...this.#places.filter(isLive), nowMs];
    if (key.limits.requestsPerSecond !== undefined) key.places = [...key.places.filter(isLive), nowMs];
    const windowed = this.#windowed(key);
    const tickets = Object.fromEntries(windowed.map((one) => [one.subject, countIn(one, nowMs)]));
    const tag = this.#tag(request.tag, nowMs);
    const tagRate = tag?.settings.requestsPerSecond;
    if (tagRate !== undefined) tag!.uses.take(nowMs);
    const tagPlaces = tagRate === undefined ? 0 : tag!.uses.taken;
    const tagTicket = tag?.uses.counts.count(windowLimits(tag.settings.windows ?? ''), nowMs) ?? 0;
    const answer = this.#judge(request, nowMs, tag);
    if (answer.kind === 'admitted' && answer.reservation !== undefined) {
      const { requestId, keyId } = request;
      const ofAllowance = this.#usesAllowance(key);
      const priceMicro = ofAllowance ? 0 : priceMicroOf(this.team.limits, answer.reservation.characters);
      const windows = windowed.flatMap((one) => one.windows);
      for (const window of windows) window.characters += answer.reservation.characters;
      tag?.uses.hold(answer.reservation.characters);
      const counted = { windows, tickets, tag: request.tag, tagTicket };
      const held = { reservation: answer.reservation, priceMicro, ofAllowance, period: this.#period, ...counted };
      this.#entries.push({ kind: 'open', requestId, keyId, ...held });
    } else {
      this.#entries.push({ kind: 'released', requestId: request.requestId, forgetAtMs: nowMs + REMEMBER_MS });
    }
    if (tag !== undefined) this.#keep(tag);
    const placed = request.reportPlan === true ? { ...answer, plan: this.team.plan } : answer;
    if (request.reportRate !== true) return placed;
    const [limit, own] = [this.team.limits.requestsPerSecond, key.limits.requestsPerSecond];
    const [left, leftOfKey] = [limit - this.#places.length, own === undefined ? Infinity : own - key.places.length];
    const nearer = leftOfKey < left ? { limit: own!, remaining: leftOfKey, of: 'key' as const } : { limit, remaining: left };
    const leftOfTag = tagRate === undefined ? Infinity : tagRate - tagPlaces;
    const rate = leftOfTag < nearer.remaining ? { limit: tagRate!, remaining: leftOfTag, of: 'tag' as const } : nearer;
    const windows = [...windowed.flatMap((one) => standingsOf(one, nowMs)), ...windowStandings(subjectsOf(tag), nowMs)];
    return { ...placed, rate, ...(windows.length === 0 ? {} : { windows }) };
  }

  check(check: CallerCheck, nowMs: number): CheckedCaller {
    this.#catchUp(nowMs);
    return this.#caller(check, nowMs);
  }

  /** `reserved`: the characters that the request would reserve. */
  #caller(
    { keyId, address, scope, tag: sent }: Pick<CallerCheck, 'keyId' | 'address' | 'scope' | 'tag'>,
    nowMs: number,
    reserved?: number,
  ): Exclude<CheckedCaller, StoreUnavailable> {
    const key = this.#keys.find((one) => one.keyId === keyId);
    if (key === undefined) return { kind: 'key_unknown' };
    if (key.status === 'revoked') return { kind: 'key_revoked' };
    const { expiresAtMs, requestsPerSecond, allowedAddresses, scopes } = key.limits;
    if (key.disabled) return { kind: 'key_revoked', reason: 'disabled' };
    if (expiresAtMs !== undefined && expiresAtMs <= nowMs) return { kind: 'key_revoked', reason: 'expired' };
    if (allowedAddresses !== undefined && address === undefined) return { kind: 'address_wanted' };
    if (allowedAddresses !== undefined && !allowsAddress(allowedAddresses, address!)) return { kind: 'address_refused' };
    if (scopes !== undefined && scope === undefined) return { kind: 'scope_wanted' };
    if (scopes?.includes(scope!) === false) return { kind: 'scope_missing' };
    const tag = this.#tag(sent, nowMs);
    if (tag?.settings.disabled === true) return { kind: 'tag_disabled' };
    key.lastUsedAtMs = Math.max(key.lastUsedAtMs ?? nowMs, nowMs);
    this.#places = movedBack(this.#places, nowMs);
    const tooFast = rateRefusal(this.#places, this.team.limits.requestsPerSecond, nowMs, expiresAtMs);
    if (tooFast !== undefined) return tooFast;
    if (requestsPerSecond !== undefined) {
      key.places = movedBack(key.places, nowMs);
      const keyTooFast = rateRefusal(key.places, requestsPerSecond, nowMs, expiresAtMs);
      if (keyTooFast !== undefined) return { ...keyTooFast, of: 'key' };
    }
    const tagTooFast = tag && this.#tagTooFast(tag, nowMs, expiresAtMs);
    if (tagTooFast !== undefined) return tagTooFast;
    const refused = this.#windowed(key).map((one) => windowRefusal(one, reserved, nowMs, expiresAtMs));
    refused.push(refusalByWindow(subjectsOf(tag), reserved, nowMs, expiresAtMs));
    return refused.find((refusal) => refusal !== undefined) ?? { kind: 'admitted', reservation: undefined };
  }

  #tagTooFast(tag: TagWithSettings, nowMs: number, expiresAtMs = Infinity): RateRefusal | undefined {
    const limit = tag.settings.requestsPerSecond;
    if (limit === undefined) return undefined;
    const retryAfterMs = tag.uses.waitMs(limit, nowMs);
    // The clock may have stepped back.
    this.#keep(tag);
    const fullForMs = Math.max(0, Math.min(retryAfterMs, expiresAtMs - nowMs) - 1);
    return retryAfterMs === 0 ? undefined : { kind: 'rate_limited', limit, retryAfterMs, fullForMs, of: 'tag' };
  }

  /** If it has settings. */
  #tag(tag: RequestTag | undefined, nowMs: number): TagWithSettings | undefined {
    const settings = tag && this.records.tables.get('tag_limits')?.get(tag.name);
    if (tag === undefined || settings === undefined) return undefined;
    const uses = new TagUses(this.records.tables.get('tag_uses')?.get(tag.name), this.#history.runningNumber, nowMs);
    return { name: tag.name, settings: readTagSettings(settings), uses };
  }

  #keep({ name, uses }: TagWithSettings): void {
    this.records.put('tag_uses', name, uses.written());
  }

  /** Of a reservation that is not charged in full. */
  #giveBackOfTag({ tag, tagTicket, period }: Open, characters: number, nowMs: number): void {
    const known = tag && this.records.tables.get('tag_uses')?.get(tag.name);
    if (tag === undefined || known === undefined || tagTicket === 0 || characters === 0) return;
    const uses = new TagUses(known, this.#history.runningNumber, nowMs);
    uses.giveBack(tagTicket, period === this.#period ? this.#history.runningNumber : 0, characters);
    this.records.put('tag_uses', tag.name, uses.written());
  }

  /** Those of the team come before those of the key. */
  #windowed({ keyId, limits }: KeyRecord): Windowed[] {
    const counted = (subject: WindowSubject, written = '') => {
      const counts = this.#counts.get(subject) ?? { tickets: 0, windows: [] };
      return { subject, limits: windowLimits(written), counts, windows: counts.windows };
    };
    const [ofTeam, ofKey] = [counted('team', this.team.limits.windows), counted(keySubject(keyId), limits.windows)];
    const limited = [ofTeam, { of: 'key' as const, ...ofKey }].filter((one) => one.limits.length > 0);
    for (const { subject, counts } of limited) this.#counts.set(subject, counts);
    return limited;
  }

  resolve(requestId: string, verdict: Verdict, nowMs: number, characters?: number): Resolution {
    this.#catchUp(nowMs);
    const entry = this.#entry(requestId);
    if (entry !== undefined && entry.kind !== 'open') return { kind: entry.kind };
    if (entry === undefined && verdict === 'commit') return { kind: 'absent' };
    if (entry !== undefined) {
      const charged = verdict === 'commit' ? Math.min(characters ?? Infinity, entry.reservation.characters) : 0;
      if (verdict === 'commit') this.#charge(entry, charged, nowMs);
      giveBack(entry, entry.reservation.characters - charged);
      this.#giveBackOfTag(entry, entry.reservation.characters - charged, nowMs);
    }
    const kind = verdict === 'commit' ? 'committed' : 'released';
    this.#entries = this.#entries.filter((one) => one !== entry);
    this.#entries.push({ kind, requestId, forgetAtMs: nowMs + REMEMBER_MS });
    return { kind };
  }

  update(change: TeamChange, nowMs: number, by?: Audited): Team | BalanceOutOfBounds | CreditNotFree | OtherRequest {
    this.#catchUp(nowMs);
    const known = change.once && this.#changes.get(change.once.id)?.request;
    const found = { team: { ...this.team }, heldMicro: this.#standing().heldMicro, known };
    const { answer, write } = decideTeamChange(found, change, by);
    if (write === undefined) return answer;
    if (change.once !== undefined) this.#changes.set(change.once.id, { request: change.once.request, untilMs: nowMs + DAY_MS });
    if (write.beginsPeriod) this.#history.leave(this.#period, this.team, nowMs);
    this.team = { ...write.team };
    if (write.beginsPeriod) {
      this.#anchorMs = nowMs;
      this.#startPeriod(nowMs, nowMs);
    }
    this.#history.move(this.#period, change.addMicro ?? 0);
    this.#record(nowMs, by, this.team.teamId, write.difference, teamEvent('team_updated', write.team));
    return answer;
  }

  keys(nowMs: number): KeyRecord[] {
    return this.#shown(nowMs).map(({ characters: _characters, requests: _requests, ...record }) => record);
  }

  #shown(nowMs: number): KeyUsage[] {
    return this.#keys.map(({ disabled, places: _places, ...key }) => {
      const isOver = key.limits.expiresAtMs !== undefined && key.limits.expiresAtMs <= nowMs;
      return key.status === 'revoked' ? key : { ...key, status: disabled ? 'disabled' : isOver ? 'expired' : 'active' };
    });
  }

  putKey(record: KeyRecord): void {
    const known = this.#keys.find(({ keyId }) => keyId === record.keyId);
    const { limits, status } = record;
    const places = limits.requestsPerSecond === undefined ? [] : (known?.places ?? []);
    const changed = { ...record, places, disabled: status === 'disabled', status: status === 'revoked' ? status : ('active' as const) };
    if (known === undefined) this.#keys.push({ ...changed, characters: 0, requests: 0 });
    else Object.assign(known, changed);
  }

  usage(nowMs: number): Usage {
    this.#catchUp(nowMs);
    return {
      team: { ...this.team },
      periodStartMs: this.#period.startMs,
      periodEndMs: this.#period.endMs,
      characters: this.#standing().usedCharacters,
      allowanceUsed: this.#standing().allowanceUsed,
      ...this.#usesOf('team', this.team.limits.windows, nowMs),
      keys: this.#shown(nowMs).map((key) => ({ ...key, ...this.#usesOf(keySubject(key.keyId), key.limits.windows, nowMs) })),
    };
  }

  #usesOf(subject: WindowSubject, written: string | undefined, nowMs: number): { readonly windows?: readonly WindowUse[] } {
    const windowed = { limits: windowLimits(written ?? ''), windows: this.#counts.get(subject)?.windows ?? [] };
    return windowed.limits.length === 0 ? {} : { windows: usesOf(windowed, nowMs) };
  }

  days(range: DayRange, nowMs: number): TeamDays {
    const days = this.#history.days(
      range,
      this.#keys.map(({ keyId }) => keyId),
    );
    return { team: { ...this.team }, keys: this.keys(nowMs).filter((key) => days.some(({ keyId }) => keyId === key.keyId)), days };
  }

  periods(nowMs: number): PeriodUse[] {
    this.#catchUp(nowMs);
    const open = this.#entries.filter((entry) => entry.kind === 'open');
    return this.#history.periods(this.#period, this.team, (period) => open.some((entry) => entry.period === period));
  }

  head(nowMs: number, keyId: string | undefined): GroupHead {
    this.#catchUp(nowMs);
    const key = this.keys(nowMs).find((one) => one.keyId === keyId);
    return { nowMs, limits: this.team.limits, period: { number: this.#history.runningNumber, ...this.#period }, key };
  }

  standing(nowMs: number): Standing {
    this.#catchUp(nowMs);
    return this.#standing();
  }

  /** Applies what time has done: expired leases, forgotten ids, an ended period. */
  #catchUp(nowMs: number): void {
    this.#entries = this.#entries
      .map((entry): Entry => {
        if (entry.kind !== 'open' || entry.reservation.leaseUntilMs > nowMs) return entry;
        giveBack(entry, entry.reservation.characters);
        this.#giveBackOfTag(entry, entry.reservation.characters, nowMs);
        return { kind: 'expired', requestId: entry.requestId, forgetAtMs: entry.reservation.leaseUntilMs + REMEMBER_MS };
      })
      .filter((entry) => entry.kind === 'open' || entry.forgetAtMs > nowMs);
    if (nowMs < this.#period.endMs) return;
    this.#history.leave(this.#period, this.team, nowMs);
    this.#takeNextPlan(this.#period.endMs, nowMs);
    this.#startPeriod(nowMs, this.#period.endMs);
  }

  /** Another length is counted from the end of the period. */
  #takeNextPlan(endMs: number, nowMs: number): void {
    const before = { ...this.team };
    const { nextPlan, limits } = before;
    if (nextPlan === undefined) return;
    if (!sameLength(nextPlan.limits.period, limits.period)) this.#anchorMs = endMs;
    this.team = { ...withNextPlan(before) };
    this.#record(nowMs, nextPlan.by, this.team.teamId, teamDifference(before, this.team), teamEvent('team_updated', this.team));
  }

  /** A calendar period may begin before `fromMs`, if the period before it was counted differently. */
  #startPeriod(nowMs: number, fromMs: number): void {
    const { startMs, endMs } = this.#periodAt(nowMs);
    this.#period = { startMs: Math.max(startMs, fromMs), endMs };
    for (const key of this.#keys) Object.assign(key, { characters: 0, requests: 0 });
  }

  #periodAt(nowMs: number): Period {
    const [length = '', anchor] = this.team.limits.period.split('@');
    const duration = parseDuration(length);
    if (duration === undefined) throw new Error(`not a period: ${length}`);
    return periodAt(anchor === 'calendar' ? FIRST_OF_ALL : this.#anchorMs, duration, nowMs);
  }

  #judge(
    { requestId, teamId, keyId, characters: all, charged, reserve, leaseMs, glossary }: AdmissionRequest,
    nowMs: number,
    tag: TagWithSettings | undefined,
  ): Placed {
    const { limits } = this.team;
    if (all !== undefined && all > limits.maxCharactersPerRequest) {
      return { kind: 'text_too_long', maxCharacters: limits.maxCharactersPerRequest };
    }
    if (!reserve || all === undefined) return { kind: 'admitted', reservation: undefined };
    const characters = charged ?? all;
    const dictionary = glossary === undefined ? undefined : this.#dictionary(glossary);
    if (dictionary !== undefined && 'kind' in dictionary) return dictionary;
    const key = this.#keys.find((one) => one.keyId === keyId)!;
    const tooLong = this.#windowed(key).map((one) => tooLongFor(one, characters, nowMs));
    const refusal =
      tooLong.find((one) => one !== undefined) ??
      tooSmallWindow(subjectsOf(tag), characters, nowMs) ??
      this.#keyRefusal(keyId, characters) ??
      this.#tagRefusal(tag, characters) ??
      (this.#usesAllowance(key) ? this.#allowanceRefusal(characters) : priceRefusal(limits, this.#standing(), this.#period, characters));
    if (refusal !== undefined) return refusal;
    return { kind: 'admitted', reservation: { requestId, teamId, characters, leaseUntilMs: nowMs + leaseMs }, ...dictionary };
  }

  /** Whether what the key uses is of the plan's allowance for test keys. */
  #usesAllowance({ mode }: ModelKey): boolean {
    return mode === 'test' && this.team.limits.testAllowance > 0;
  }

  #allowanceRefusal(characters: number): QuotaExceeded | undefined {
    const { allowanceUsed, allowanceHeld } = this.#standing();
    const characterLimit = this.team.limits.testAllowance;
    if (allowanceUsed + allowanceHeld + characters <= characterLimit) return undefined;
    return { kind: 'quota_exceeded', characterLimit, overageCapMinor: 0, periodEndMs: this.#period.endMs, of: 'test_keys' };
  }

  #keyRefusal(keyId: string, characters: number): Placed | undefined {
    const key = this.#keys.find((one) => one.keyId === keyId)!;
    const open = this.#entries.filter((entry) => entry.kind === 'open' && entry.keyId === keyId && entry.period === this.#period);
    const held = sum(open.map((entry) => (entry as Open).reservation.characters));
    const characterLimit = key.limits.characters ?? Infinity;
    if (key.characters + held + characters <= characterLimit) return undefined;
    return { kind: 'quota_exceeded', characterLimit, overageCapMinor: 0, periodEndMs: this.#period.endMs, of: 'key' };
  }

  #tagRefusal(tag: TagWithSettings | undefined, characters: number): QuotaExceeded | undefined {
    const characterLimit = tag?.settings.characters;
    if (tag === undefined || characterLimit === undefined || tag.uses.period.characters + characters <= characterLimit) return undefined;
    return { kind: 'quota_exceeded', characterLimit, overageCapMinor: 0, periodEndMs: this.#period.endMs, of: 'tag' };
  }

  #dictionary({ glossaryId, sourceLang, targetLang, byBase }: GlossaryReference): { readonly dictionaryId: string } | Placed {
    const pairs = this.records.tables.get('pairs')?.get(glossaryId);
    if (pairs === undefined) return { kind: 'glossary_missing' };
    const pair = `${sourceLang} ${targetLang}`;
    const named = readPairs(pairs).map((one) => ({ dictionaryId: one.dictionaryId, pair: `${one.sourceLang} ${one.targetLang}` }));
    const serving =
      named.find((one) => one.pair === pair) ??
      (byBase === true ? named.find((one) => withoutRegions(one.pair) === withoutRegions(pair)) : undefined);
    return serving === undefined ? { kind: 'glossary_mismatch' } : { dictionaryId: serving.dictionaryId };
  }

  #charge(entry: Open, asked: number, nowMs: number): void {
    const reserved = entry.reservation.characters;
    const characters = Math.min(asked, reserved);
    const micro = reserved === 0 ? 0 : Number((BigInt(entry.priceMicro) * BigInt(characters)) / BigInt(reserved));
    this.team.balanceMicro -= micro;
    const key = this.#keys.find((one) => one.keyId === entry.keyId);
    const { period, keyId, ofAllowance } = entry;
    const counts = { characters, requests: 1, micro, ofAllowance: ofAllowance ? characters : 0 };
    this.#history.charge({ period, keyId, isTest: key?.mode === 'test', ...counts, day: dayOf(nowMs) });
    if (entry.tag !== undefined) this.#countTag(entry.tag, characters, dayOf(nowMs));
    // A charge to an ended period is only in the history.
    if (key === undefined || entry.period !== this.#period) return;
    key.characters += characters;
    key.requests += 1;
  }

  /** Under `*` if there are as many other tags as are counted. */
  #countTag({ name, distinctMax }: RequestTag, characters: number, day: number): void {
    const counts = this.records.tables.get('tag_counts') ?? new Map<string, string>();
    const others = [...counts.keys()].filter((one) => one !== '*');
    const tag = counts.has(name) || others.length < distinctMax ? name : '*';
    const [last, had, requests] = (counts.get(tag) ?? `${day} 0 0`).split(' ').map(Number) as [number, number, number];
    const earlier = this.records.tables.get('tag_days')?.get(tag);
    const ended = `${last}:${had}:${requests}`;
    if (last !== day) this.records.put('tag_days', tag, earlier === undefined ? ended : `${earlier} ${ended}`);
    this.records.put('tag_counts', tag, last === day ? `${day} ${had + characters} ${requests + 1}` : `${day} ${characters} 1`);
  }

  #entry(requestId: string): Entry | undefined {
    return this.#entries.find((entry) => entry.requestId === requestId);
  }

  #standing(): Standing {
    const open = this.#entries.filter((entry) => entry.kind === 'open');
    // What an ended period holds does not count against this one.
    const current = open.filter(({ period }) => period === this.#period);
    return {
      usedCharacters: sum(this.#keys.map((key) => key.characters)),
      heldCharacters: sum(current.map(({ reservation }) => reservation.characters)),
      allowanceUsed: this.#history.allowanceUsed(this.#period),
      allowanceHeld: sum(current.map(({ ofAllowance, reservation }) => (ofAllowance ? reservation.characters : 0))),
      balanceMicro: this.team.balanceMicro,
      heldMicro: sum(open.map((entry) => entry.priceMicro)),
      openReservations: open.length,
    };
  }
}

type RateRefusal = Extract<CheckedCaller, { kind: 'rate_limited' }>;

function subjectsOf(tag: TagWithSettings | undefined): readonly WindowedSubject[] {
  return windowedSubjects(
    '',
    '',
    undefined,
    () => tag!.uses.counts,
    tag && { name: tag.name, windows: tag.settings.windows, counts: tag.uses.counts },
  );
}

/** Not before `startMs` by more than its length: then it is another window, with the same counts. */
function endOf({ per, startMs, endMs }: CountedIn, nowMs: number): number {
  return startMs - nowMs > endMs - startMs ? windowAt(per, nowMs).endMs : endMs;
}

function giveBack({ windows }: Open, characters: number): void {
  for (const window of windows) window.characters -= characters;
}

/** Begins the windows that contain this moment, and counts a request in each. Returns how many were counted. */
function countIn({ limits, counts, windows }: Windowed, nowMs: number): number {
  const going = windows.filter(({ endMs }) => nowMs < endMs);
  const begun = limits
    .filter(({ per }) => going.every((one) => one.per !== per))
    .map(({ per }): CountedIn => ({ per, ...windowAt(per, nowMs), from: counts.tickets, requests: 0, characters: 0, told: false }));
  windows.splice(0, Infinity, ...going, ...begun);
  for (const one of windows) {
    if (endOf(one, nowMs) !== one.endMs) Object.assign(one, windowAt(one.per, nowMs));
    one.requests += 1;
  }
  return ++counts.tickets;
}

function windowRefusal(
  { of, limits, windows }: Windowed,
  reserved: number | undefined,
  nowMs: number,
  expiresAtMs = Infinity,
): Extract<CheckedCaller, { kind: 'rate_limited' }> | undefined {
  const exceeded = limits.flatMap(({ per, requests = Infinity, characters = Infinity }): ExceededWindow[] => {
    const used = windows.find((one) => one.per === per && nowMs < one.endMs);
    if (used === undefined) return [];
    const endMs = endOf(used, nowMs);
    if (used.requests >= requests) return [{ per, counts: 'requests', limit: requests, endMs }];
    const fits = reserved === undefined || reserved > characters || used.characters + reserved <= characters;
    return fits ? [] : [{ per, counts: 'characters', limit: characters, endMs }];
  });
  const lastMs = Math.max(...exceeded.map(({ endMs }) => endMs));
  const last = exceeded.find(({ endMs }) => endMs === lastMs);
  if (last === undefined) return undefined;
  const { per, counts, limit, endMs } = last;
  const fullForMs = counts === 'characters' ? 0 : Math.max(0, Math.min(endMs, expiresAtMs) - nowMs - 1);
  const whose = of === undefined ? {} : { of };
  return { kind: 'rate_limited', limit, retryAfterMs: endMs - nowMs, fullForMs, ...whose, window: { per, counts } };
}

/** No waiting helps a text that is longer than the whole number. */
function tooLongFor({ of, limits, windows }: Windowed, reserved: number, nowMs: number): QuotaExceeded | undefined {
  const small = limits.find(({ characters = Infinity }) => reserved > characters);
  if (small === undefined) return undefined;
  const going = windows.find(({ per, endMs }) => per === small.per && nowMs < endMs);
  const periodEndMs = going === undefined ? windowAt(small.per, nowMs).endMs : endOf(going, nowMs);
  const window = { per: small.per, counts: 'characters' as const };
  const whose = of === undefined ? {} : { of };
  return { kind: 'quota_exceeded', characterLimit: small.characters!, overageCapMinor: 0, periodEndMs, ...whose, window };
}

function usesOf({ limits, windows }: Pick<Windowed, 'limits' | 'windows'>, nowMs: number): WindowUse[] {
  return limits.map((limit) => {
    const going = windows.find(({ per, endMs }) => per === limit.per && nowMs < endMs);
    const endMs = going === undefined ? windowAt(limit.per, nowMs).endMs : endOf(going, nowMs);
    return { ...limit, usedRequests: going?.requests ?? 0, usedCharacters: going?.characters ?? 0, endMs };
  });
}

function standingsOf(windowed: Windowed, nowMs: number): WindowStanding[] {
  const whose = windowed.of === undefined ? {} : { of: windowed.of };
  return usesOf(windowed, nowMs).flatMap(({ per, requests, characters, usedRequests, usedCharacters, endMs }) => {
    const left = (limit: number, used: number) => ({ limit, remaining: Math.max(0, limit - used), resetMs: endMs - nowMs });
    return [
      ...(requests === undefined ? [] : [{ ...whose, per, counts: 'requests' as const, ...left(requests, usedRequests) }]),
      ...(characters === undefined ? [] : [{ ...whose, per, counts: 'characters' as const, ...left(characters, usedCharacters) }]),
    ];
  });
}

type Slots = WholeAccount['window'];

function slotsOf(places: readonly number[]): Slots {
  return [...Map.groupBy(places, (atMs) => atMs)].map(([atMs, all]) => ({ atMs, count: all.length }));
}

function placesOf(slots: Slots): number[] {
  return slots.flatMap(({ atMs, count }) => Array.from({ length: count }, () => atMs));
}

/** If the clock has stepped back, the entries are moved back with it. */
function movedBack(places: readonly number[], nowMs: number): number[] {
  const backMs = Math.max(0, ...places.map((place) => place - nowMs));
  return places.map((place) => place - backMs);
}

/** Drops no entry: only an admission that takes a place does. `expiresAtMs` is the key's: until then at most can a refusal be promised. */
function rateRefusal(
  places: readonly number[],
  limit: number,
  nowMs: number,
  expiresAtMs = Infinity,
): Extract<CheckedCaller, { kind: 'rate_limited' }> | undefined {
  const live = places.filter((place) => nowMs - place < RATE_WINDOW_MS);
  // The entry that must expire before one more fits: the oldest, unless the limit was lowered meanwhile.
  const decisive = live[live.length - limit];
  if (decisive === undefined) return undefined;
  const freeAtMs = decisive + RATE_WINDOW_MS;
  // The clock has whole milliseconds: it may be nearly one later.
  const fullForMs = Math.max(0, Math.min(freeAtMs, expiresAtMs) - nowMs - 1);
  return { kind: 'rate_limited', limit, retryAfterMs: freeAtMs - nowMs, fullForMs };
}

function withoutRegions(pair: string): string {
  return pair.replaceAll(/-\w+/g, '');
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

/** The credit that a reservation holds; with quota billing none. */
function priceMicroOf(limits: TeamLimits, characters: number): Micro {
  return limits.billing === 'credit' ? costMicro(characters, limits.minorPerMillion) : 0;
}

function priceRefusal(
  limits: TeamLimits,
  standing: Standing,
  period: Period,
  characters: number,
): QuotaExceeded | CreditExhausted | undefined {
  if (limits.billing === 'quota') {
    const { characterLimit, overageCharacters, overageCapMinor } = limits;
    const charged = standing.usedCharacters - standing.allowanceUsed + standing.heldCharacters - standing.allowanceHeld;
    if (charged + characters <= characterLimit + overageCharacters) return undefined;
    return { kind: 'quota_exceeded', characterLimit, overageCapMinor, periodEndMs: period.endMs };
  }
  const freeMicro = standing.balanceMicro - standing.heldMicro;
  const requiredMicro = priceMicroOf(limits, characters);
  if (requiredMicro <= freeMicro) return undefined;
  const [balanceMinor, requiredMinor] = [minorRoundedDown(freeMicro), minorRoundedUp(requiredMicro)];
  return { kind: 'credit_exhausted', balanceMinor, requiredMinor, currency: limits.currency };
}

const OF_NO_TEAM = { limits: undefined, period: undefined };

/** Everything that no admission writes. What the gateway writes over it, such as glossaries, is the same for every store. */
function recordsOf(data: ReferenceData, account: FindAccount, clock: Clock): RecordSpace {
  const group = (id: string) => (id === SHARED_RECORDS ? data.shared : account(id)?.records);
  const values = (id: string, names: readonly RecordName[]) => group(id)?.values(names) ?? names.map(() => undefined);
  return {
    read: async (id, names) => values(id, names),
    list: async (id, table) => new Map(group(id)?.tables.get(table)),
    page: async (id, { index, from, below, limit }) =>
      [...(group(id)?.tables.get(index)?.keys() ?? [])]
        .filter((entry) => entry >= from && entry < below)
        .toSorted()
        .slice(0, limit),
    async change(id, names, decide, keyId) {
      const owner = group(id);
      if (owner === undefined) return undefined;
      const nowMs = clock.nowMs();
      // Nothing waits from here on, so that no other change comes in between.
      const head = id === SHARED_RECORDS ? { nowMs, ...OF_NO_TEAM } : account(id)!.head(nowMs, keyId);
      const change = decide(values(id, names), head);
      owner.write(change);
      for (const { blobId, pieces } of change.attach ?? []) owner.blobs.set(blobId, pieces);
      for (const blobId of change.detach ?? []) owner.blobs.delete(blobId);
      if (change.key !== undefined) {
        const { record, digest } = change.key;
        account(id)!.putKey(record);
        if (digest !== undefined) data.owners.push({ digest, owner: { keyId: record.keyId, teamId: id, mode: record.mode } });
      }
      recordChange(data, nowMs, change.audit?.by, id, change.audit, undefined, keyId);
      if (change.event !== undefined) keepEvent(data, nowMs, id, change.event);
      return change.result;
    },
    teamOf: async (keyId) => data.owners.find(({ owner }) => owner.keyId === keyId)?.owner.teamId,
    groupOf: async ({ table, id }) => data.accounts.find(({ records }) => records.tables.get(table)?.has(id))?.team.teamId,
    // In memory there is no need to write large ones in pieces.
    prepare: async () => undefined,
    abandon: async () => undefined,
    readBlob: async (id, blobId) => group(id)?.blobs.get(blobId),
  };
}

/** One charge, or a sum of charges: of a day, or of a period. */
interface Charge {
  readonly day: number | undefined;
  readonly keyId: string;
  readonly characters: number;
  readonly requests: number;
  readonly micro: number;
  readonly isTest: boolean;
  /** What is of the allowance for test keys. */
  readonly ofAllowance: number;
  readonly period: Period | undefined;
}

/** Credit that an operator added, or deducted if it is negative. */
interface Move {
  readonly micro: number;
  readonly period: Period;
}

/** A past period of the team. */
interface Left extends Pick<PeriodUse, 'number' | 'endMs' | 'plan' | 'limits'> {
  readonly period: Period;
}

class ReferenceHistory {
  readonly #charges: Charge[] = [];
  readonly #moves: Move[] = [];
  readonly #left: Left[] = [];
  /** The first period of a team has number 1. */
  runningNumber = 1;
  /** The balance before the first period. */
  #openingMicro = 0;

  /** `running` is the current period of the account. */
  static of(account: WholeAccount, { number, credit }: NonNullable<WholeAccount['period']>, running: Period): ReferenceHistory {
    const history = new ReferenceHistory();
    const { periods, keys } = account;
    history.runningNumber = number;
    history.#openingMicro = (periods[0]?.credit ?? credit).openingMicro;
    for (const { number: past, startMs, endMs, plan, limits } of periods)
      history.#left.push({ number: past, period: { startMs, endMs }, endMs, plan, limits });
    for (const {
      number: of,
      credit: { addedMicro, deductedMicro },
    } of [...periods, { number, credit }]) {
      const period = of === number ? running : history.numbered(of)!;
      for (const micro of [addedMicro, -deductedMicro]) history.move(period, micro);
    }
    for (const one of chargeSums(account)) {
      const period = one.period === number ? running : history.numbered(one.period);
      history.charge({ ...one, period, isTest: keys.some(({ keyId, mode }) => keyId === one.keyId && mode === 'test') });
    }
    return history;
  }

  /** A past period. */
  numbered(number: number | undefined): Period | undefined {
    return this.#left.find((one) => one.number === number)?.period;
  }

  numberOf(period: Period): number {
    return this.#left.find((one) => one.period === period)?.number ?? this.runningNumber;
  }

  charge(charge: Charge): void {
    this.#charges.push(charge);
  }

  move(period: Period, micro: number): void {
    this.#moves.push({ period, micro });
  }

  allowanceUsed(period: Period): number {
    return sum(this.#charges.filter((charge) => charge.period === period).map(({ ofAllowance }) => ofAllowance));
  }

  leave(period: Period, { plan, limits }: Team, nowMs: number): void {
    const number = this.runningNumber++;
    this.#left.push({ number, period, plan, limits, endMs: Math.max(period.startMs, Math.min(period.endMs, nowMs)) });
  }

  /** `keyIds` in order of creation. */
  days({ from, to }: DayRange, keyIds: readonly string[]): KeyDay[] {
    const all = new Set(this.#charges.flatMap(({ day }) => (day === undefined || day < from || day > to ? [] : day)));
    return [...all]
      .toSorted((one, other) => one - other)
      .flatMap((day) => {
        const charged = this.#charges.filter((charge) => charge.day === day);
        return keyIds.flatMap((keyId): KeyDay[] => {
          const own = charged.filter((charge) => charge.keyId === keyId);
          return own.length === 0 ? [] : [{ day, keyId, characters: total(own), requests: sum(own.map(({ requests }) => requests)) }];
        });
      });
  }

  /** `isOpen` says whether the period has an open reservation. */
  periods(running: Period, { plan, limits }: Team, isOpen: (period: Period) => boolean): PeriodUse[] {
    const all = this.#left.map(({ period }) => period);
    const past = this.#left.map(({ period, ...rest }, index) => ({
      ...rest,
      startMs: period.startMs,
      // Periods are closed in order: a late charge changes the balances since.
      closed: !all.slice(0, index + 1).some(isOpen),
      ...this.#figures(all, index),
    }));
    const current = { number: this.runningNumber, ...running, closed: false, plan, limits };
    return [{ ...current, ...this.#figures([...all, running], past.length) }, ...past.toReversed()];
  }

  /** Of the period at `index` of all periods so far. */
  #figures(periods: readonly Period[], index: number) {
    const charges = this.#charges.filter(({ period }) => period === periods[index]);
    const moves = this.#moves.filter(({ period }) => period === periods[index]).map(({ micro }) => micro);
    const [before, until] = [index, index + 1].map((end) => {
      const of = ({ period }: Charge | Move): boolean => period !== undefined && periods.slice(0, end).includes(period);
      return (
        this.#openingMicro + sum(this.#moves.filter(of).map(({ micro }) => micro)) - sum(this.#charges.filter(of).map(({ micro }) => micro))
      );
    }) as [number, number];
    return {
      characters: total(charges),
      allowanceUsed: sum(charges.map(({ ofAllowance }) => ofAllowance)),
      testCharacters: total(charges.filter(({ isTest }) => isTest)),
      requests: sum(charges.map(({ requests }) => requests)),
      credit: {
        openingMicro: before,
        addedMicro: sum(moves.filter((micro) => micro > 0)),
        deductedMicro: sum(moves.filter((micro) => micro < 0).map((micro) => -micro)),
        balanceMicro: until,
      },
    };
  }
}

function total(charges: readonly Charge[]): number {
  return charges.reduce((all, { characters }) => all + characters, 0);
}

const data = emptyData();

export default definePlugin({
  name: 'reference-store',
  options: Type.Object({}, { additionalProperties: false }),
  setup: () => ({ stores: { memory: async (_url, { clock, historyDays }) => referenceStore(clock, data, historyDays) } }),
});
