// Teams and keys in Redis, as operators manage them.
import { teamDifference } from '../../domain/audit-entry.ts';
import type { Audited } from '../../domain/audit-entry.ts';
import type { KeyOwner } from '../../domain/api-key.ts';
import { periodBy } from '../../domain/period.ts';
import { CHANGE_REMEMBERED_MS } from '../../domain/reservation.ts';
import { answered, answering, isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import { keySubject } from '../../domain/window-limits.ts';
import type { StoredCounts } from '../../domain/window-limits.ts';
import { teamSummary, withWindowUses } from '../../ledger/counter.ts';
import { decideTeamChange } from '../../ledger/team-change.ts';
import type { RecordSpace } from '../../ports/record-space.ts';
import type {
  FoundKey,
  KeyRecord,
  KeySearch,
  NewKey,
  NewTeam,
  Standing,
  Team,
  TeamChange,
  TeamDeletion,
  TeamPage,
  TeamRegistry,
  TeamSummary,
  Usage,
} from '../../ports/team-registry.ts';
import { keyRegistry } from '../records/key-registry.ts';
import type { KeyRegistry } from '../records/key-registry.ts';
import { teamEvent } from '../records/event-record.ts';
import type { RunningPeriod } from '../../ports/usage-history.ts';
import type { Postbox } from './postbox.ts';
import { digestKey, groupKey, ownerKey } from './redis-keys.ts';
import type { RedisLink } from './redis-link.ts';
import { shownKey } from './redis-records.ts';
import type { Replication } from './replication.ts';
import { keyIdsOf, openAccount, HashRows } from './team-accounts.ts';
import type { OpenTeam, TeamAccounts, HashDraft } from './team-accounts.ts';
import type { RedisTeamErasure } from './redis-team-erasure.ts';
import { FIELD, idIn, readCounter, readTeam, teamText } from './team-fields.ts';
import { isFound } from './team-index.ts';
import type { TeamIndex } from './team-index.ts';

interface RegistryParts {
  readonly link: RedisLink;
  readonly accounts: TeamAccounts;
  readonly index: TeamIndex;
  readonly postbox: Postbox;
  readonly records: RecordSpace;
  readonly erasure: RedisTeamErasure;
  readonly replication: Replication;
}

/** A team that is up to date. */
interface TeamView extends Omit<OpenTeam, 'rows'> {
  readonly keys: readonly KeyRecord[];
}

async function viewTeam(accounts: TeamAccounts, teamId: string): Promise<TeamView | undefined> {
  for (;;) {
    const [draft, nowMs] = await Promise.all([accounts.read(teamId), accounts.link.now()]);
    const account = openAccount(draft, new HashRows(teamId, draft, nowMs, 0));
    if (account === undefined) return undefined;
    account.catchUp(nowMs);
    if (!draft.isChanged) return { account, draft, nowMs, keys: keysOf(draft, nowMs) };
    answered(await accounts.catchUp(teamId));
  }
}

/** In order of creation. */
export function keysOf(draft: HashDraft, nowMs: number): readonly KeyRecord[] {
  return keyIdsOf(draft.read).map((keyId) => shownKey(draft.read.get(FIELD.key(keyId))!, draft.read, nowMs));
}

export class RedisTeamRegistry implements TeamRegistry {
  readonly #parts: RegistryParts;
  readonly #keys: KeyRegistry;

  constructor(parts: RegistryParts) {
    this.#parts = parts;
    this.#keys = keyRegistry(parts.records);
  }

  createTeam(team: NewTeam, by?: Audited): Promise<Team | StoreUnavailable> {
    return answering(async () => {
      const { accounts, index, postbox, link } = this.#parts;
      const { teamId, balanceMicro } = team;
      const serial = await postbox.serial(by);
      for (;;) {
        const [draft, nowMs] = await Promise.all([accounts.read(teamId), link.now()]);
        const known = draft.get(FIELD.team);
        if (draft.get(FIELD.deleted) !== undefined) throw new RangeError(`team ${teamId} was deleted; use another id.`);
        const made = known === undefined ? { ...team, createdAtMs: nowMs } : readTeam(known, draft.read.get(FIELD.balance));
        if (known === undefined) {
          const period = { number: 1, ...periodBy(team.limits.period, nowMs, nowMs), anchorMs: nowMs };
          draft.put(FIELD.team, teamText(made));
          draft.put(FIELD.period, JSON.stringify({ ...period, addedMicro: balanceMicro, deductedMicro: 0 } satisfies RunningPeriod));
          draft.put(FIELD.balance, JSON.stringify({ micro: balanceMicro, held: 0 }));
          new HashRows(teamId, draft, nowMs, serial).keep(by, teamDifference(undefined, made), teamEvent('team_created', made));
          if (!(await accounts.write(teamId, draft, false))) continue;
        }
        await index.add(teamId);
        return made;
      }
    });
  }

  listTeams(): Promise<readonly Team[] | StoreUnavailable> {
    return this.pageTeams({ after: undefined, limit: Infinity, search: undefined });
  }

  pageTeams(page: TeamPage): Promise<readonly Team[] | StoreUnavailable> {
    return answering(() => this.#parts.index.page(page, (teamId) => this.#found(teamId, page)));
  }

  pageSummaries(page: TeamPage): Promise<readonly TeamSummary[] | StoreUnavailable> {
    return answering(() =>
      this.#parts.index.page(page, async (teamId) => {
        const isThere = page.search === undefined || (await this.#found(teamId, page)) !== undefined;
        const view = isThere ? await viewTeam(this.#parts.accounts, teamId) : undefined;
        return view && teamSummary(usageOf(view));
      }),
    );
  }

  async #found(teamId: string, page: TeamPage): Promise<Team | undefined> {
    const [team, balance] = await this.#parts.link.ask((redis) => redis.hmget(groupKey(teamId), FIELD.team, FIELD.balance));
    const found = team ? readTeam(team, balance ?? undefined) : undefined;
    return found !== undefined && isFound(found, page) ? found : undefined;
  }

  findTeam(teamId: string): Promise<Team | undefined | StoreUnavailable> {
    return this.#viewed(teamId, ({ account }) => account.shown());
  }

  updateTeam(teamId: string, change: TeamChange, by?: Audited): ReturnType<TeamRegistry['updateTeam']> {
    return answering(() => this.#parts.accounts.change(teamId, (team) => updateTeam(team, change, by), by, false));
  }

  deleteTeam(teamId: string, choice: TeamDeletion, by?: Audited): Promise<boolean | StoreUnavailable> {
    return this.#parts.erasure.delete(teamId, choice, by);
  }

  /** The indexes are written last, because they make the key work; by a repetition too. */
  async createKey(key: NewKey, by?: Audited): Promise<KeyRecord | undefined | StoreUnavailable> {
    const { keyId, teamId, digest, mode } = key;
    const { link } = this.#parts;
    const made = await this.#keys.createKey(key, by);
    if (made === undefined || isUnavailable(made)) return made;
    return answering(async () => {
      const isThere = await link.ask(async (redis) => {
        await redis.set(ownerKey(keyId), teamId);
        await redis.set(digestKey(digest), JSON.stringify({ keyId, teamId, mode } satisfies KeyOwner));
        // The team may have been deleted since. A deletion either finds the key's record, or is seen here.
        return redis.hexists(groupKey(teamId), FIELD.team);
      });
      if (isThere === 1) return made;
      await link.ask((redis) => Promise.all([redis.unlink(ownerKey(keyId)), redis.unlink(digestKey(digest))]));
      return undefined;
    });
  }

  listKeys(teamId: string): Promise<readonly KeyRecord[] | undefined | StoreUnavailable> {
    return this.#viewed(teamId, ({ keys }) => keys);
  }

  updateKey: KeyRegistry['updateKey'] = (keyId, change, by) => this.#keys.updateKey(keyId, change, by);

  revokeKey: KeyRegistry['revokeKey'] = (keyId, by) => this.#keys.revokeKey(keyId, by);

  replicated(teamIds: readonly string[]): Promise<boolean | undefined> {
    return this.#parts.replication.confirm(teamIds);
  }

  findKeys(search: KeySearch): Promise<readonly FoundKey[] | StoreUnavailable> {
    return answering(async () => {
      const { index, link } = this.#parts;
      if ('digest' in search) {
        const json = await link.ask((redis) => redis.get(digestKey(search.digest)));
        const owner = json === null ? undefined : (JSON.parse(json) as KeyOwner);
        return owner === undefined ? [] : this.#keysOf(owner.teamId, ({ keyId }) => keyId === owner.keyId);
      }
      const found: FoundKey[] = [];
      for await (const ids of index.pieces()) {
        const keys = await Promise.all(ids.map((teamId) => this.#keysOf(teamId, ({ display }) => display === search.display)));
        found.push(...keys.flat());
      }
      return found;
    });
  }

  async #keysOf(teamId: string, isMeant: (key: KeyRecord) => boolean): Promise<readonly FoundKey[]> {
    const view = await viewTeam(this.#parts.accounts, teamId);
    return (view?.keys ?? []).filter(isMeant).map((key) => ({ ...key, teamName: view!.account.team.name }));
  }

  usage(teamId: string): Promise<Usage | undefined | StoreUnavailable> {
    return this.#viewed(teamId, usageOf);
  }

  standing(teamId: string): Promise<Standing | undefined | StoreUnavailable> {
    return this.#viewed(teamId, ({ account }) => account.standing());
  }

  #viewed<T>(teamId: string, show: (view: TeamView) => T): Promise<T | undefined | StoreUnavailable> {
    return answering(async () => {
      const view = await viewTeam(this.#parts.accounts, teamId);
      return view && show(view);
    });
  }
}

function updateTeam({ account, draft, nowMs, rows }: OpenTeam, change: TeamChange, by: Audited | undefined) {
  const { addMicro = 0, once } = change;
  forgetChanges(draft, nowMs);
  const before = account.shown();
  const known = once && draft.get(FIELD.once(once.id));
  const request = known === undefined ? undefined : (JSON.parse(known) as RememberedChange).request;
  const { answer, write } = decideTeamChange({ team: before, heldMicro: account.standing().heldMicro, known: request }, change, by);
  if (write === undefined) return answer;
  if (once !== undefined) {
    const remembered: RememberedChange = { request: once.request, untilMs: nowMs + CHANGE_REMEMBERED_MS };
    draft.put(FIELD.once(once.id), JSON.stringify(remembered));
  }
  // What is held of it must not have changed meanwhile.
  if (addMicro < 0) draft.get(FIELD.balance);
  if (write.beginsPeriod) account.endPeriodNow(nowMs, before);
  account.setTeam(write.team);
  if (write.beginsPeriod) account.beginPeriodNow(nowMs);
  if (addMicro !== 0) rows.moveCredit(addMicro);
  rows.keep(by, write.difference, teamEvent('team_updated', write.team));
  return answer;
}

export interface RememberedChange {
  readonly request: string;
  readonly untilMs: number;
}

function forgetChanges(draft: HashDraft, nowMs: number): void {
  for (const [field, text] of draft.read) {
    if (idIn(field, 'once:') !== undefined && (JSON.parse(text) as RememberedChange).untilMs <= nowMs) draft.remove(field);
  }
}

function usageOf({ account, draft, keys, nowMs }: TeamView): Usage {
  const { period, used, allowanceUsed } = account.counts;
  const usage: Usage = {
    team: account.shown(),
    periodStartMs: period.startMs,
    periodEndMs: period.endMs,
    characters: used,
    allowanceUsed,
    keys: keys.map((key) => {
      const counter = readCounter(draft.read.get(FIELD.ofPeriod(keySubject(key.keyId))), period.number);
      return { ...key, characters: counter.used, requests: counter.requests };
    }),
  };
  return withWindowUses(
    usage,
    (subject) => {
      const stored = draft.peek(FIELD.ofWindows(subject));
      return account.windowCounts.get(subject)?.stored() ?? (stored === undefined ? undefined : (JSON.parse(stored) as StoredCounts));
    },
    nowMs,
  );
}
