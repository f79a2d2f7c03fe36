// The reference model: a store in memory, written from the ports' comments alone, that the real ones are compared with.
import { dayOf } from '../../../src/domain/period.ts';
import type { KeyOwner } from '../../../src/domain/api-key.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import type { PluginLedger, PluginStore } from '../../../src/ports/plugin.ts';
import type { KeyRecord, TeamPage, TeamRegistry, TeamSummary } from '../../../src/ports/team-registry.ts';
import { ReferenceAccount } from './reference-account.ts';
import { referenceGlossaries } from './reference-glossaries.ts';

/** What is kept; stores over the same books are two instances on one backing. */
export interface ReferenceBooks {
  readonly accounts: ReferenceAccount[];
  /** Teams in order of creation, with those of which only their usage is left. */
  readonly used: UsedAccount[];
  readonly owners: { readonly digest: string; readonly owner: KeyOwner }[];
}

export function emptyBooks(): ReferenceBooks {
  return { accounts: [], used: [], owners: [] };
}

export function referenceStore(clock: Clock, books: ReferenceBooks = emptyBooks()): PluginStore {
  const account = (teamId: string) => books.accounts.find((one) => one.team.teamId === teamId);
  const used = (teamId: string) => books.used.find((one) => one.team.teamId === teamId);
  return {
    keys: { find: (digest) => books.owners.find((one) => one.digest === digest)?.owner },
    ledger: ledgerOf(account, clock),
    teams: registryOf(books, account, clock),
    glossaries: referenceGlossaries(account, clock),
    history: {
      days: async (teamId, range) => used(teamId)?.days(range, clock.nowMs()),
      pageDays: async (page, range) => pageOf(books.used, page).map((one) => one.days(range, clock.nowMs())),
      periods: async (teamId) => used(teamId)?.periods(clock.nowMs()),
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
    chargesParts: true,
  };
}

function registryOf(books: ReferenceBooks, account: FindAccount, clock: Clock): TeamRegistry {
  return {
    async createTeam(team) {
      const known = account(team.teamId);
      if (known !== undefined) return { ...known.team };
      const created = new ReferenceAccount(team, clock.nowMs());
      books.accounts.push(created);
      books.used.push(created);
      return { ...created.team };
    },
    listTeams: async () => books.accounts.map((one) => ({ ...one.team })),
    pageTeams: async (page) => pageOf(books.accounts, page).map((one) => ({ ...one.team })),
    pageSummaries: async (page) => pageOf(books.accounts, page).map((one) => summaryOf(one, clock.nowMs())),
    async findTeam(teamId) {
      const found = account(teamId);
      return found === undefined ? undefined : { ...found.team };
    },
    updateTeam: async (teamId, change) => account(teamId)?.update(change, clock.nowMs()),
    async deleteTeam(teamId, { keepUsage }) {
      const [at, usedAt] = [books.accounts, books.used].map((all) => all.findIndex(({ team }) => team.teamId === teamId)) as [
        number,
        number,
      ];
      if (usedAt === -1 || (keepUsage && at === -1)) return false;
      const left = keepUsage ? leftBy(books.accounts[at]!, clock.nowMs()) : undefined;
      books.used.splice(usedAt, 1, ...(left === undefined ? [] : [left]));
      if (at === -1) return true;
      books.accounts.splice(at, 1);
      books.owners.splice(0, Infinity, ...books.owners.filter(({ owner }) => owner.teamId !== teamId));
      return true;
    },
    async createKey(key) {
      const record = account(key.teamId)?.addKey(key, clock.nowMs());
      const { keyId, teamId, mode } = key;
      if (record !== undefined) books.owners.push({ digest: key.digest, owner: { keyId, teamId, mode } });
      return record;
    },
    listKeys: async (teamId) => account(teamId)?.keys(clock.nowMs()),
    async updateKey(keyId, change) {
      const owner = books.accounts.find((one) => one.keys(clock.nowMs()).some((key) => key.keyId === keyId));
      return owner?.change(keyId, change, clock.nowMs());
    },
    async revokeKey(keyId) {
      const owner = books.accounts.find((one) => one.keys(clock.nowMs()).some((key) => key.keyId === keyId));
      owner?.revoke(keyId);
      return owner?.keys(clock.nowMs()).find((key) => key.keyId === keyId);
    },
    findKeys: async (search) => {
      const ids =
        'digest' in search ? books.owners.filter(({ digest }) => digest === search.digest).map(({ owner }) => owner.keyId) : undefined;
      const wanted = (key: KeyRecord): boolean => ('display' in search ? key.display === search.display : ids!.includes(key.keyId));
      return books.accounts.flatMap((one) =>
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

/** What a history shows of a team. */
type UsedAccount = Pick<ReferenceAccount, 'team' | 'days' | 'periods'>;

/** Closed periods and days without names; `undefined` where there are none. */
function leftBy(account: ReferenceAccount, nowMs: number): UsedAccount | undefined {
  const team = { ...account.team, name: '', balanceMicro: 0 };
  const closed = account
    .periods(nowMs)
    .map((period, i) => ({
      ...period,
      closed: true,
      endMs: i === 0 ? Math.max(period.startMs, Math.min(period.endMs, nowMs)) : period.endMs,
    }))
    .filter(({ characters }) => characters > 0);
  const whole = account.days({ from: 0, to: dayOf(nowMs) + 1 }, nowMs);
  if (whole.days.length === 0) return undefined;
  return {
    team,
    days: ({ from, to }) => {
      const days = whole.days.filter(({ day }) => day >= from && day <= to);
      const keys = whole.keys
        .filter(({ keyId }) => days.some((one) => one.keyId === keyId))
        .map((key) => ({ ...key, display: '', label: '', status: 'revoked' as const }));
      return { team, keys, days };
    },
    periods: () => closed,
  };
}

function pageOf<Account extends Pick<ReferenceAccount, 'team'>>(
  accounts: readonly Account[],
  { after, limit, search }: TeamPage,
): readonly Account[] {
  const has = (text: string): boolean => search === undefined || text.toLowerCase().includes(search.toLowerCase());
  const at = accounts.findIndex(({ team }) => team.teamId === after);
  const gone = after !== undefined && at === -1;
  const next = gone ? accounts.findIndex(({ team }) => team.teamId > after) : at + 1;
  const rest = next === -1 ? [] : accounts.slice(next);
  return rest.filter(({ team }) => has(team.name) || has(team.teamId)).slice(0, limit);
}

/** Opens the period that holds now, as every look at an account does here. */
function summaryOf(account: ReferenceAccount, nowMs: number): TeamSummary {
  const { team, characters } = account.usage(nowMs);
  const keys = account.keys(nowMs);
  const uses = keys.map(({ lastUsedAtMs }) => lastUsedAtMs).filter((atMs) => atMs !== undefined);
  const active = keys
    .filter(({ status }) => status === 'active')
    .map((key) => ({ keyId: key.keyId, sinceMs: key.lastUsedAtMs ?? key.createdAtMs }));
  const [idlestKey] = active.toSorted((a, b) => a.sinceMs - b.sinceMs || (a.keyId < b.keyId ? -1 : 1));
  return {
    team: { ...team },
    characters,
    activeKeys: active.length,
    lastUsedAtMs: uses.length === 0 ? undefined : Math.max(...uses),
    idlestKey,
  };
}
