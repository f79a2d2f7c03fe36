// Scans all teams in the background, page by page, for those near a limit: quota, credit, or a long
// unused key. The metrics report how many there are, and which are closest.
import { setTimeout as delay } from 'node:timers/promises';
import { placeOf } from '../core/error-place.ts';
import { DAY_MS } from '../domain/period.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { Log } from '../ports/log.ts';
import type { TeamRegistry, TeamSummary } from '../ports/team-registry.ts';
import { worstOf } from './recent-traffic.ts';
import { Rounds } from './rounds.ts';
import { Spell } from './spell.ts';

export interface TeamsNearLimits {
  /** When the last scan ended, in ms on the monotonic clock; `undefined` before the first. */
  readonly passedAtMs: number | undefined;
  readonly counts: Readonly<Record<TeamCondition, number>>;
  /** Worst first, at most as many as configured; likewise for the other lists. */
  readonly quota: readonly QuotaNearlyUsed[];
  readonly credit: readonly CreditLow[];
  readonly keys: readonly KeyUnused[];
}

type TeamCondition = 'all' | 'quota_nearly_used' | 'credit_low' | 'key_unused';

interface QuotaNearlyUsed {
  readonly teamId: string;
  /** Of the period's characters, with overage: 0 to 1, or above after a plan was lowered. */
  readonly usedRatio: number;
}

interface CreditLow {
  readonly teamId: string;
  /** How many characters the balance still covers. */
  readonly characters: number;
}

interface KeyUnused {
  readonly teamId: string;
  /** The team's active key that has been unused for longest. */
  readonly keyId: string;
  readonly unusedSeconds: number;
}

/** How often, how many teams of each kind are listed, and from when one is near a limit. */
type TeamWatchSettings = Readonly<
  Record<'every_seconds' | 'teams_max' | 'quota_used_percent' | 'credit_characters' | 'key_unused_days', number>
>;

interface TeamWatchOptions {
  readonly teams: Pick<TeamRegistry, 'pageSummaries'>;
  readonly settings: TeamWatchSettings;
  readonly log: Log;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  /** The wall clock, by which the last use of keys is recorded. */
  readonly wallMs: () => number;
}

/** 500 teams a second: 2 to 5 % of a core with the driver (npm run task -- bench:teams). */
const PAGE = 50;
const PAUSE_MS = 100;
const SECOND_MS = 1000;
const NOTHING: TeamsNearLimits = {
  passedAtMs: undefined,
  counts: { all: 0, quota_nearly_used: 0, credit_low: 0, key_unused: 0 },
  quota: [],
  credit: [],
  keys: [],
};

export class TeamWatch {
  /** Of the last complete scan. To be read only. */
  latest = NOTHING;
  readonly #options: TeamWatchOptions;
  readonly #scans: Rounds;
  readonly #unreadable: Spell<string>;
  #closed = false;

  /** Starts the first scan at once. */
  constructor(options: TeamWatchOptions) {
    this.#options = options;
    const { log, settings } = options;
    this.#unreadable = new Spell({
      begins: (cause) => log.warn('the teams could not be read: their metrics stay as they were', { cause }),
      ends: () => log.info('the teams can be read again'),
    });
    this.#scans = new Rounds(settings.every_seconds * SECOND_MS, () => this.#scan());
    void this.#scans.now();
  }

  close(): void {
    this.#closed = true;
    void this.#scans.close();
  }

  /** If the store is unavailable, the next scan reads all again. */
  async #scan(): Promise<void> {
    const { teams, now, settings, wallMs } = this.#options;
    let found = NOTHING;
    for (let after: string | undefined; !this.#closed; await delay(PAUSE_MS, undefined, { ref: false })) {
      // A rejection is a bug of the store, which must not end the process.
      const page = await teams
        .pageSummaries({ after, limit: PAGE, search: undefined })
        .catch((error: unknown): StoreUnavailable => ({ kind: 'unavailable', cause: placeOf(error) }));
      if (this.#closed) return;
      const isAway = isUnavailable(page);
      this.#unreadable.note(isAway ? page.cause : undefined);
      if (isAway) return;
      found = withPage(found, page, settings, wallMs());
      if (page.length < PAGE) return void (this.latest = { ...found, passedAtMs: now() });
      after = page.at(-1)!.team.teamId;
    }
  }
}

/** With the teams of another page. */
function withPage(before: TeamsNearLimits, page: readonly TeamSummary[], settings: TeamWatchSettings, nowMs: number): TeamsNearLimits {
  // A team without an active key cannot reach a limit.
  const active = page.filter(({ idlestKey }) => idlestKey !== undefined);
  const quota = active.flatMap((summary) => quotaUsed(summary, settings) ?? []);
  const credit = active.flatMap((summary) => creditLow(summary, settings) ?? []);
  const keys = active.flatMap((summary) => keyUnused(summary, settings, nowMs) ?? []);
  const { counts } = before;
  const { teams_max: most } = settings;
  return {
    passedAtMs: undefined,
    counts: {
      all: counts.all + page.length,
      quota_nearly_used: counts.quota_nearly_used + quota.length,
      credit_low: counts.credit_low + credit.length,
      key_unused: counts.key_unused + keys.length,
    },
    quota: worstOf([...before.quota, ...quota], most, ({ usedRatio }) => usedRatio),
    credit: worstOf([...before.credit, ...credit], most, ({ characters }) => -characters),
    keys: worstOf([...before.keys, ...keys], most, ({ unusedSeconds }) => unusedSeconds),
  };
}

function quotaUsed({ team, characters, allowanceUsed }: TeamSummary, settings: TeamWatchSettings): QuotaNearlyUsed | undefined {
  const { teamId, limits } = team;
  if (limits.billing === 'credit') return undefined;
  const allowed = limits.characterLimit + limits.overageCharacters;
  const usedRatio = allowed === 0 ? 1 : (characters - allowanceUsed) / allowed;
  return usedRatio * 100 >= settings.quota_used_percent ? { teamId, usedRatio } : undefined;
}

function creditLow({ team: { teamId, limits, balanceMicro } }: TeamSummary, settings: TeamWatchSettings): CreditLow | undefined {
  if (limits.billing !== 'credit') return undefined;
  const characters = limits.minorPerMillion === 0 ? Infinity : Math.floor(balanceMicro / limits.minorPerMillion);
  return characters < settings.credit_characters ? { teamId, characters } : undefined;
}

function keyUnused({ team: { teamId }, idlestKey }: TeamSummary, settings: TeamWatchSettings, nowMs: number): KeyUnused | undefined {
  const unusedMs = nowMs - idlestKey!.sinceMs;
  if (unusedMs < settings.key_unused_days * DAY_MS) return undefined;
  return { teamId, keyId: idlestKey!.keyId, unusedSeconds: Math.floor(unusedMs / SECOND_MS) };
}
