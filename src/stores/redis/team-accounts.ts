// Teams' accounts in Redis, for whatever seldom happens: an account is read, `Account` (src/ledger) changes it, and what has changed is written
// if it is still as it was read. Admissions and settlements do not pass here (ledger-turns.ts).
import { randomInt } from 'node:crypto';
import { auditId } from '../../domain/audit-entry.ts';
import type { AuditDifference, Audited, AuditRecord } from '../../domain/audit-entry.ts';
import { eventIds } from '../../domain/event-rules.ts';
import { answered, answering } from '../../domain/store-unavailable.ts';
import { tagSubject } from '../../domain/window-limits.ts';
import type { StoredCounts, WindowSubject } from '../../domain/window-limits.ts';
import { firstCounts } from '../../ledger/account-rows.ts';
import { Account } from '../../ledger/account.ts';
import type { KeyUsed } from '../../ledger/key-account.ts';
import { Slots } from '../../ledger/rate.ts';
import type { NewEvent } from '../../ports/record-space.ts';
import type { KeyRecord, NewTeam, Team } from '../../ports/team-registry.ts';
import { reportOf } from '../records/team-registry.ts';
import type { OpenTeam, RememberedChange, TeamRows } from '../records/team-registry.ts';
import type { EndedPeriod } from '../../ports/usage-history.ts';
import type { Outgoing } from './postbox.ts';
import { HashDraft } from './redis-groups.ts';
import type { RedisGroups } from './redis-groups.ts';
import { OF_TEAM } from './redis-keys.ts';
import { InTurn } from './redis-link.ts';
import {
  FIELD,
  fieldsWith,
  keyIdsOf,
  readBalance,
  readCounter,
  readKey,
  readOpen,
  readPeriod,
  readTagUses,
  readTeam,
  tagUsesText,
  teamText,
} from './team-fields.ts';
import type { PeriodCounter } from './team-fields.ts';

/** Of what a change is decided on. */
interface DraftedTeam extends OpenTeam {
  readonly draft: HashDraft;
  readonly rows: HashRows;
}

/** The rows of a team, as its account reads and writes them. */
export class HashRows implements TeamRows {
  readonly #draft: HashDraft;
  readonly #nowMs: number;
  #serial = newSerial();
  /** Keys of which reservations have ended. */
  readonly settledKeys = new Set<string>();
  /** Of a team that exists. */
  account: Account | undefined = undefined;

  constructor(draft: HashDraft, nowMs: number) {
    [this.#draft, this.#nowMs] = [draft, nowMs];
  }

  key(keyId: string): { readonly record: KeyRecord; readonly use: KeyUsed } | undefined {
    const text = this.#draft.peek(FIELD.key(keyId));
    if (text === undefined) return undefined;
    const { atMs: lastUsedAtMs, period, used: characters, requests } = this.useOf(keyId);
    const use = { lastUsedAtMs, period, characters, requests, slots: new Slots() };
    return { record: { ...readKey(text).record, lastUsedAtMs }, use };
  }

  /** What a key has used and holds in the period. */
  useOf(keyId: string): PeriodCounter {
    return readCounter(this.#draft.peek(FIELD.usedBy(keyId)), this.account?.counts.period.number);
  }

  windowCounts(subject: WindowSubject): StoredCounts | undefined {
    const text = this.#draft.get(FIELD.windows(subject));
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

  /** Only what reservations give back is read and written here: `tag_uses`. */
  readonly tags: TeamRows['tags'] = {
    get: (_table, tag) => {
      const text = this.#draft.get(FIELD.windows(tagSubject(tag)));
      return text === undefined ? undefined : readTagUses(text);
    },
    put: (_table, tag, record) => this.#draft.put(FIELD.windows(tagSubject(tag)), tagUsesText(record).text),
    count: () => 0,
  };

  isCharged(period: number): boolean {
    return readCounter(this.#draft.get(FIELD.used), period).requests > 0;
  }

  endPeriod(ended: EndedPeriod): void {
    this.#draft.further.push(['HSET', OF_TEAM.periods, String(ended.number), JSON.stringify(ended)]);
  }

  keyIds(): readonly string[] {
    return keyIdsOf(this.#draft.read);
  }

  changes(): ReadonlyMap<string, RememberedChange> {
    return new Map(fieldsWith(this.#draft.read, FIELD.once('')).map(([id, text]) => [id, JSON.parse(text) as RememberedChange]));
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
    if (difference !== undefined && event !== undefined) this.leaveEvent(event);
    if (difference === undefined || by === undefined) return;
    const { actor, action, reason } = by;
    const record: AuditRecord = { actor, action, reason, keyId, ...difference };
    this.#leave(auditId(this.#nowMs, this.#serial++), { kind: 'audit', record });
  }

  leaveEvent({ id, numbered, facts }: NewEvent): void {
    const final = numbered === true ? eventIds.numbered(id, { atMs: this.#nowMs, serial: this.#serial++ }) : id;
    this.#leave(final, { kind: 'event', atMs: this.#nowMs, facts });
  }

  #leave(id: string, outgoing: Outgoing): void {
    this.#draft.further.push(['HSET', OF_TEAM.outgoing, id, JSON.stringify(outgoing)]);
  }
}

/** Of two changes in the same millisecond the later one has the greater, if one machine has made both; and no two have the same. */
function newSerial(): number {
  const microseconds = Math.floor((performance.timeOrigin + performance.now()) * 1000) % 1_000_000_000;
  return microseconds * 1_000_000 + randomInt(999_000);
}

/** `undefined` for a team that does not exist, or is deleted. */
export function openAccount(draft: HashDraft, rows: HashRows): Account | undefined {
  const text = draft.peek(FIELD.team);
  if (text === undefined) return undefined;
  const period = readPeriod(draft.get(FIELD.period)!);
  const balance = draft.peek(FIELD.balance);
  const { used, testUsed: allowanceUsed = 0 } = readCounter(draft.peek(FIELD.used), period.number);
  const counts = { balanceMicro: readBalance(balance).micro, period, used, allowanceUsed, slots: new Slots() };
  const reservations = new Map(fieldsWith(draft.read, FIELD.open('')).map(([id, held]) => [id, readOpen(held)]));
  return (rows.account = new Account(readTeam(text, balance), counts, reservations, rows));
}

/** What follows from the reservations, where it differs; and the team's record, balance and windows. */
export function writeAccount(account: Account, draft: HashDraft, { settledKeys }: Pick<HashRows, 'settledKeys'>): void {
  const { counts, team } = account;
  const { heldCharacters, allowanceHeld, heldMicro } = account.standing();
  const putHeld = (field: string, held: number, ofTests = 0): void => {
    const counter = readCounter(draft.peek(field), counts.period.number);
    const { testUsed = 0, testHeld = 0, ...rest } = counter;
    if (rest.held === held && testHeld === ofTests) return;
    draft.put(field, JSON.stringify({ ...rest, held, ...(testUsed + ofTests === 0 ? {} : { testUsed, testHeld: ofTests }) }));
  };
  if (account.isTeamChanged) draft.put(FIELD.team, teamText(team));
  if (account.isPeriodChanged) draft.put(FIELD.period, JSON.stringify(counts.period));
  draft.put(FIELD.balance, JSON.stringify({ micro: counts.balanceMicro, held: heldMicro }));
  putHeld(FIELD.used, heldCharacters, allowanceHeld);
  for (const keyId of settledKeys) putHeld(FIELD.usedBy(keyId), account.heldBy(keyId));
  for (const [subject, windows] of account.windowCounts)
    if (windows.changed) draft.put(FIELD.windows(subject), JSON.stringify(windows.stored()));
  if (settledKeys.size > 0) putLease(account, draft);
}

function putLease({ reservations }: Account, draft: HashDraft): void {
  if (reservations.size === 0) draft.remove(FIELD.lease);
  else draft.put(FIELD.lease, String(Math.min(...[...reservations.values()].map(({ untilMs }) => untilMs))));
}

export class TeamAccounts {
  readonly groups: RedisGroups;
  /** Teams that are being brought up to date. */
  readonly #catching = new Map<string, Promise<unknown>>();
  readonly #changes = new InTurn();

  constructor(groups: RedisGroups) {
    this.groups = groups;
  }

  /** Does what time alone does of a team. */
  catchUp(teamId: string): Promise<unknown> {
    const running = this.#catching.get(teamId);
    if (running !== undefined) return running;
    const caught = answering(() => this.#change(teamId, () => true)).finally(() => this.#catching.delete(teamId));
    this.#catching.set(teamId, caught);
    return caught;
  }

  /**
   * Decides on a team that is up to date, and writes what that has changed, as if nothing else happened in between; `undefined` if there
   * is no such team.
   */
  change<T>(teamId: string, decide: (team: DraftedTeam) => T): Promise<T | undefined> {
    return this.#changes.run(teamId, () => this.#change(teamId, decide));
  }

  #change<T>(teamId: string, decide: (team: DraftedTeam) => T): Promise<T | undefined> {
    return this.decide(teamId, (draft, rows, nowMs) => {
      const account = openAccount(draft, rows);
      if (account === undefined) return undefined;
      draft.get(FIELD.team);
      account.catchUp(nowMs);
      if (Number(draft.peek(FIELD.lease) ?? Infinity) <= nowMs) putLease(account, draft);
      const result = decide({ account, draft, nowMs, rows });
      writeAccount(account, draft, rows);
      return result;
    });
  }

  /** Decides on a hash as it is read, and writes what was decided if it is still so; else again. */
  decide<T>(teamId: string, decide: (draft: HashDraft, rows: HashRows, nowMs: number) => T): Promise<T> {
    return this.groups.decide(
      teamId,
      () => this.read(teamId),
      (draft, nowMs) => decide(draft, new HashRows(draft, nowMs), nowMs),
    );
  }

  /** What is shown of a team that is up to date. */
  async view<T>(teamId: string, show: (team: OpenTeam) => T): Promise<T | undefined> {
    const { account, rows, nowMs } = await this.current(teamId);
    return account && show({ account, rows, nowMs });
  }

  /** The hash of a team that is up to date, or of what is left of it. */
  async current(teamId: string) {
    for (;;) {
      const draft = await this.read(teamId);
      const nowMs = this.groups.link.nowMs(teamId);
      const rows = new HashRows(draft, nowMs);
      const account = openAccount(draft, rows);
      account?.catchUp(nowMs);
      if (account?.isChanged !== true) return { draft, nowMs, rows, account };
      answered(await this.catchUp(teamId));
    }
  }

  /** The team, which `begin` has begun unless it was there. */
  create(team: NewTeam, begin: (team: OpenTeam) => void): Promise<Team> {
    const { teamId, balanceMicro } = team;
    return this.decide(teamId, (draft, rows, nowMs) => {
      draft.frees = false;
      const known = draft.get(FIELD.team);
      if (draft.get(FIELD.deleted) !== undefined) throw new RangeError(`team ${teamId} was deleted; use another id.`);
      if (known !== undefined) return readTeam(known, draft.peek(FIELD.balance));
      const made = { ...team, createdAtMs: nowMs };
      const account = (rows.account = new Account(made, firstCounts(balanceMicro, nowMs), new Map(), rows));
      begin({ account, rows, nowMs });
      writeAccount(account, draft, rows);
      return made;
    });
  }

  async read(teamId: string): Promise<HashDraft> {
    return new HashDraft(await this.groups.hash(teamId));
  }
}
