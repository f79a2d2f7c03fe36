// Teams' accounts in Redis, for whatever seldom happens: an account is read, `Account` (src/ledger) changes it, and what has changed is written
// if it is still as it was read. Admissions and settlements do not pass here (ledger-turns.ts).
import { auditId } from '../../domain/audit-entry.ts';
import type { AuditDifference, Audited, AuditRecord } from '../../domain/audit-entry.ts';
import { eventIds } from '../../domain/event-rules.ts';
import { answered, answering, storeErrorOf } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import { keySubject } from '../../domain/window-limits.ts';
import type { StoredCounts, WindowSubject } from '../../domain/window-limits.ts';
import { Account, firstCounts } from '../../ledger/account.ts';
import type { HeldReservation } from '../../ledger/account.ts';
import type { KeyUsed } from '../../ledger/key-account.ts';
import { Slots } from '../../ledger/rate.ts';
import type { NewEvent } from '../../ports/record-space.ts';
import type { KeyRecord, NewTeam, Team } from '../../ports/team-registry.ts';
import { reportOf } from '../records/team-registry.ts';
import type { OpenTeam, RememberedChange, TeamRows } from '../records/team-registry.ts';
import type { EndedPeriod } from '../../ports/usage-history.ts';
import { HashDraft } from './hash-draft.ts';
import type { Postbox } from './postbox.ts';
import { groupKey, OF_TEAM } from './redis-keys.ts';
import { InTurn } from './in-turn.ts';
import type { RedisLink } from './redis-link.ts';
import {
  FIELD,
  idIn,
  readBalance,
  readCounter,
  readKey,
  readOpen,
  readPeriod,
  readTagPieces,
  readTeam,
  tagPieces,
  teamText,
} from './team-fields.ts';
import type { PeriodCounter } from './team-fields.ts';

/** How often a change is decided again because something else has changed the team meanwhile. */
export const DECISIONS_MAX = 100;
export const UNSETTLED: StoreUnavailable = { kind: 'unavailable', cause: 'unsettled' };

/** Of what a change is decided on. */
interface DraftedTeam extends OpenTeam {
  readonly draft: HashDraft;
  readonly rows: HashRows;
}

/** The rows of a team, as its account reads and writes them. `serial`: of its first audit entry. */
export class HashRows implements TeamRows {
  readonly #draft: HashDraft;
  readonly #nowMs: number;
  #serial: number;
  readonly teamId: string;
  /** Keys of which reservations have ended. */
  readonly settledKeys = new Set<string>();
  /** Of a team that exists. */
  account: Account | undefined = undefined;

  constructor(teamId: string, draft: HashDraft, nowMs: number, serial: number) {
    [this.teamId, this.#draft, this.#nowMs, this.#serial] = [teamId, draft, nowMs, serial];
  }

  key(keyId: string): { readonly record: KeyRecord; readonly use: KeyUsed } | undefined {
    const text = this.#draft.peek(FIELD.key(keyId));
    if (text === undefined) return undefined;
    const { lastUsedAtMs, period, used: characters, requests } = this.useOf(keyId);
    const use = { lastUsedAtMs, period, characters, requests, slots: new Slots() };
    return { record: { ...readKey(text).record, lastUsedAtMs }, use };
  }

  /** What a key has used in the period, and when it was used last. */
  useOf(keyId: string): PeriodCounter & Pick<KeyUsed, 'lastUsedAtMs'> {
    const used = this.#draft.peek(FIELD.used(keyId));
    const counter = readCounter(this.#draft.peek(FIELD.ofPeriod(keySubject(keyId))), this.account?.counts.period.number ?? 0);
    return { ...counter, lastUsedAtMs: used === undefined ? undefined : Number(used) };
  }

  windowCounts(subject: WindowSubject): StoredCounts | undefined {
    const text = this.#draft.get(FIELD.ofWindows(subject));
    return text === undefined ? undefined : (JSON.parse(text) as StoredCounts);
  }

  open(): void {
    throw new TypeError('an admission is made by lua/admit.lua');
  }

  charge(): void {
    throw new TypeError('a commit is made by lua/settle.lua');
  }

  close(requestId: string): void {
    const text = this.#draft.get(FIELD.open(requestId));
    if (text === undefined) return;
    this.settledKeys.add(readOpen(text).keyId);
    this.#draft.remove(FIELD.open(requestId));
  }

  pairs(): undefined {
    return undefined;
  }

  readonly tags: TeamRows['tags'] = {
    get: (table, tag) => (table === 'tag_uses' ? readTagPieces(tag, (field) => this.#draft.get(field), []) : undefined),
    put: (table, tag, text) => {
      if (table !== 'tag_uses') return;
      for (const [field, value] of tagPieces(tag, text).fields) this.#draft.put(field, value);
    },
    count: () => 0,
  };

  isCharged(period: number): boolean {
    return readCounter(this.#draft.get(FIELD.ofPeriod('team')), period).requests > 0;
  }

  endPeriod(ended: EndedPeriod): void {
    this.#draft.further.push(['HSET', OF_TEAM.periods, String(ended.number), JSON.stringify(ended)]);
  }

  keyIds(): readonly string[] {
    return keyIdsOf(this.#draft.read);
  }

  changes(): ReadonlyMap<string, RememberedChange> {
    const changes = new Map<string, RememberedChange>();
    for (const [field, text] of this.#draft.read) {
      const id = idIn(field, 'once:');
      if (id !== undefined) changes.set(id, JSON.parse(text) as RememberedChange);
    }
    return changes;
  }

  putChange(id: string, change?: RememberedChange): void {
    if (change === undefined) this.#draft.remove(FIELD.once(id));
    else this.#draft.put(FIELD.once(id), JSON.stringify(change));
  }

  changed(before: Team | undefined, after: Team, by: Audited | undefined): void {
    this.report(by, ...reportOf(before, after));
  }

  /** The audit entry and the event of a change, made with it. */
  report(by: Audited | undefined, difference: AuditDifference | undefined, event?: NewEvent, keyId?: string): void {
    if (difference === undefined) return;
    if (event !== undefined) this.keepEvent(event);
    if (by === undefined) return;
    const { actor, action, reason } = by;
    const record: AuditRecord = { actor, action, ...(reason === undefined ? {} : { reason }), keyId, ...difference };
    const id = auditId(this.#nowMs, this.#serial++);
    this.#draft.further.push(['HSET', OF_TEAM.outgoing, id, JSON.stringify({ kind: 'audit', record })]);
  }

  keepEvent({ id, numbered, facts }: NewEvent): void {
    const serial = Number(this.#draft.peek(FIELD.events) ?? 0) + 1;
    if (numbered === true) this.#draft.put(FIELD.events, String(serial));
    const final = numbered === true ? eventIds.numbered(id, { atMs: this.#nowMs, serial }) : id;
    this.#draft.further.push(['HSET', OF_TEAM.outgoing, final, JSON.stringify({ kind: 'event', atMs: this.#nowMs, facts })]);
  }
}

/** The ids of a team's keys, in order of creation. */
export function keyIdsOf(fields: ReadonlyMap<string, string>): readonly string[] {
  const keys = [...fields.keys()].flatMap((field) => idIn(field, 'key:') ?? []);
  const order = new Map(keys.map((keyId) => [keyId, readKey(fields.get(FIELD.key(keyId))!).order]));
  return keys.toSorted((one, other) => order.get(one)! - order.get(other)! || (one < other ? -1 : 1));
}

/** `undefined` for a team that does not exist, or is deleted. */
export function openAccount(draft: HashDraft, rows: HashRows): Account | undefined {
  const text = draft.peek(FIELD.team);
  if (text === undefined) return undefined;
  const period = readPeriod(draft.get(FIELD.period)!);
  const balance = draft.peek(FIELD.balance);
  const counts = {
    balanceMicro: readBalance(balance).micro,
    period,
    used: readCounter(draft.peek(FIELD.ofPeriod('team')), period.number).used,
    allowanceUsed: readCounter(draft.peek(FIELD.ofPeriod('test keys')), period.number).used,
    slots: new Slots(),
  };
  const reservations = new Map<string, HeldReservation>();
  for (const [field, open] of draft.read) {
    const id = idIn(field, 'open:');
    if (id !== undefined) reservations.set(id, readOpen(open));
  }
  return (rows.account = new Account(readTeam(text, balance), counts, reservations, rows));
}

/** What follows from the reservations, where it differs; and the team's record, balance and windows. */
export function writeAccount(account: Account, draft: HashDraft, settledKeys: ReadonlySet<string>): void {
  const { counts, team } = account;
  const { heldCharacters, allowanceHeld, heldMicro } = account.standing();
  const { number } = counts.period;
  if (account.isTeamChanged) draft.put(FIELD.team, teamText(team));
  if (account.isPeriodChanged) draft.put(FIELD.period, JSON.stringify(counts.period));
  draft.put(FIELD.balance, JSON.stringify({ micro: counts.balanceMicro, held: heldMicro }));
  putHeld(draft, 'team', number, heldCharacters);
  putHeld(draft, 'test keys', number, allowanceHeld);
  for (const keyId of settledKeys) {
    const text = draft.peek(FIELD.key(keyId));
    if (text !== undefined && readKey(text).record.limits.characters !== undefined)
      putHeld(draft, keySubject(keyId), number, account.heldBy(keyId));
  }
  for (const [subject, windows] of account.windowCounts)
    if (windows.changed) draft.put(FIELD.ofWindows(subject), JSON.stringify(windows.stored()));
  if (settledKeys.size > 0) putLease(account, draft);
}

function putLease({ reservations }: Account, draft: HashDraft): void {
  if (reservations.size === 0) draft.remove(FIELD.lease);
  else draft.put(FIELD.lease, String(Math.min(...[...reservations.values()].map(({ untilMs }) => untilMs))));
}

function putHeld(draft: HashDraft, subject: WindowSubject | 'test keys', number: number, held: number): void {
  const field = FIELD.ofPeriod(subject);
  const counter = readCounter(draft.peek(field), number);
  if (counter.held !== held) draft.put(field, JSON.stringify({ ...counter, held } satisfies PeriodCounter));
}

export class TeamAccounts {
  readonly link: RedisLink;
  readonly #postbox: Postbox;
  /** Teams that are being brought up to date. */
  readonly #catching = new Map<string, Promise<unknown>>();
  readonly #changes = new InTurn();

  constructor(link: RedisLink, postbox: Postbox) {
    this.link = link;
    this.#postbox = postbox;
  }

  /** Does what time alone does of a team. */
  catchUp(teamId: string): Promise<unknown> {
    const running = this.#catching.get(teamId);
    if (running !== undefined) return running;
    const caught = answering(() => this.#change(teamId, () => true, undefined, true)).finally(() => this.#catching.delete(teamId));
    this.#catching.set(teamId, caught);
    return caught;
  }

  /**
   * Decides on a team that is up to date, and writes what that has changed, as if nothing else happened in between; `undefined` if there
   * is no such team. `frees`: a full server makes it too.
   */
  change<T>(teamId: string, decide: (team: DraftedTeam) => T, by?: Audited, frees = true): Promise<T | undefined> {
    return this.#changes.run(teamId, () => this.#change(teamId, decide, by, frees));
  }

  #change<T>(teamId: string, decide: (team: DraftedTeam) => T, by: Audited | undefined, frees: boolean): Promise<T | undefined> {
    return this.decide(teamId, by, frees, (draft, rows, nowMs) => {
      const account = openAccount(draft, rows);
      if (account === undefined) return undefined;
      draft.get(FIELD.team);
      account.catchUp(nowMs);
      if (Number(draft.peek(FIELD.lease) ?? Infinity) <= nowMs) putLease(account, draft);
      const result = decide({ account, draft, nowMs, rows });
      writeAccount(account, draft, rows.settledKeys);
      return result;
    });
  }

  /** Decides on a hash as it is read, and writes what was decided if it is still so; else again. */
  async decide<T>(
    teamId: string,
    by: Audited | undefined,
    frees: boolean,
    decide: (draft: HashDraft, rows: HashRows, nowMs: number) => T,
  ): Promise<T> {
    const serial = await this.#postbox.serial(by);
    for (let decisions = 0; decisions < DECISIONS_MAX; decisions++) {
      const { draft, nowMs } = await this.stored(teamId);
      const result = decide(draft, new HashRows(teamId, draft, nowMs, serial), nowMs);
      if (!draft.isChanged || (await this.#write(teamId, draft, frees))) return result;
    }
    throw storeErrorOf(UNSETTLED);
  }

  /** What is shown of a team that is up to date. */
  async view<T>(teamId: string, show: (team: OpenTeam) => T): Promise<T | undefined> {
    const { account, rows, nowMs } = await this.current(teamId);
    return account && show({ account, rows, nowMs });
  }

  /** The hash of a team that is up to date, or of what is left of it. */
  async current(teamId: string) {
    for (;;) {
      const { draft, nowMs } = await this.stored(teamId);
      const rows = new HashRows(teamId, draft, nowMs, 0);
      const account = openAccount(draft, rows);
      account?.catchUp(nowMs);
      if (account?.isChanged !== true) return { draft, nowMs, rows, account };
      answered(await this.catchUp(teamId));
    }
  }

  /** The team, which `begin` has begun unless it was there. */
  create(team: NewTeam, begin: (team: OpenTeam) => void, by: Audited | undefined): Promise<Team> {
    const { teamId, balanceMicro } = team;
    return this.decide(teamId, by, false, (draft, rows, nowMs) => {
      const known = draft.get(FIELD.team);
      if (draft.get(FIELD.deleted) !== undefined) throw new RangeError(`team ${teamId} was deleted; use another id.`);
      if (known !== undefined) return readTeam(known, draft.peek(FIELD.balance));
      const made = { ...team, createdAtMs: nowMs };
      const account = (rows.account = new Account(made, firstCounts(balanceMicro, nowMs), new Map(), rows));
      begin({ account, rows, nowMs });
      writeAccount(account, draft, rows.settledKeys);
      return made;
    });
  }

  async stored(teamId: string): Promise<{ readonly draft: HashDraft; readonly nowMs: number }> {
    const [draft, nowMs] = await Promise.all([this.read(teamId), this.link.now()]);
    return { draft, nowMs };
  }

  async read(teamId: string): Promise<HashDraft> {
    return new HashDraft(new Map(Object.entries(await this.link.ask((redis) => redis.hgetall(groupKey(teamId))))));
  }

  /** False if something of it is no longer as it was read. */
  async #write(teamId: string, draft: HashDraft, frees: boolean): Promise<boolean> {
    const answer = await this.link.compare(teamId, { fields: draft.expected, write: draft.writes, frees });
    if (answer !== 'changed') return false;
    if (draft.further.some(([, suffix]) => suffix === OF_TEAM.outgoing)) await this.#postbox.empty(teamId);
    return true;
  }
}
