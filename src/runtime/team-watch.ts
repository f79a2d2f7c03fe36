// Scans all teams in the background, page by page, for those near a limit: quota, credit, or a long
// unused key. The metrics report how many there are, and which are closest.
import { placeOf } from '../core/error-place.ts';
import { DAY_MS } from '../domain/period.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { Log } from '../ports/log.ts';
import type { TeamRegistry, TeamSummary } from '../ports/team-registry.ts';
import { Worst } from './recent-traffic.ts';

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
  readonly #options: TeamWatchOptions;
  #latest = NOTHING;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  #failing = false;

  /** Starts the first scan at once. */
  constructor(options: TeamWatchOptions) {
    this.#options = options;
    void this.#scans();
  }

  /** The result of the last complete scan. */
  get latest(): TeamsNearLimits {
    return this.#latest;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  /** If the store is unavailable, waits for the next scan. */
  async #scans(): Promise<void> {
    const { now, settings } = this.#options;
    const everyMs = settings.every_seconds * SECOND_MS;
    while (!this.#closed) {
      const startedAtMs = now();
      const found = await this.#scan();
      this.#latest = found ?? this.#latest;
      await this.#pause(found === undefined ? everyMs : Math.max(PAUSE_MS, startedAtMs + everyMs - now()));
    }
  }

  async #scan(): Promise<TeamsNearLimits | undefined> {
    const { teams, log, now } = this.#options;
    const pass = new Pass(this.#options);
    for (let after: string | undefined; !this.#closed; await this.#pause(PAUSE_MS)) {
      // A rejection is a bug of the store, which must not end the process.
      const page = await teams
        .pageSummaries({ after, limit: PAGE, search: undefined })
        .catch((error: unknown): StoreUnavailable => ({ kind: 'unavailable', cause: placeOf(error) }));
      const isAway = isUnavailable(page);
      if (isAway && !this.#failing && !this.#closed)
        log.warn('the teams could not be read: their metrics stay as they were', { cause: page.cause });
      if (!isAway && this.#failing) log.info('the teams can be read again');
      this.#failing = isAway;
      if (isAway) return undefined;
      for (const summary of page) pass.look(summary);
      if (page.length < PAGE) return pass.result(now());
      after = page.at(-1)!.team.teamId;
    }
    return undefined;
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      if (!this.#closed) this.#timer = setTimeout(resolve, ms).unref();
    });
  }
}

/** One scan over all teams. */
class Pass {
  readonly #settings: TeamWatchSettings;
  readonly #wallMs: () => number;
  readonly #quota: Worst<QuotaNearlyUsed>;
  readonly #credit: Worst<CreditLow>;
  readonly #keys: Worst<KeyUnused>;
  #all = 0;

  constructor({ settings, wallMs }: TeamWatchOptions) {
    this.#settings = settings;
    this.#wallMs = wallMs;
    this.#quota = new Worst(settings.teams_max, ({ usedRatio }) => usedRatio);
    this.#credit = new Worst(settings.teams_max, ({ characters }) => -characters);
    this.#keys = new Worst(settings.teams_max, ({ unusedSeconds }) => unusedSeconds);
  }

  look({ team, characters, allowanceUsed, idlestKey }: TeamSummary): void {
    this.#all++;
    // A team without an active key cannot reach a limit.
    if (idlestKey === undefined) return;
    const { teamId, limits } = team;
    const { quota_used_percent: percent, credit_characters: creditLeast, key_unused_days: days } = this.#settings;
    if (limits.billing === 'credit') {
      const left = limits.minorPerMillion === 0 ? Infinity : Math.floor(team.balanceMicro / limits.minorPerMillion);
      if (left < creditLeast) this.#credit.add({ teamId, characters: left });
    } else {
      const allowed = limits.characterLimit + limits.overageCharacters;
      const usedRatio = allowed === 0 ? 1 : (characters - allowanceUsed) / allowed;
      if (usedRatio * 100 >= percent) this.#quota.add({ teamId, usedRatio });
    }
    const unusedMs = this.#wallMs() - idlestKey.sinceMs;
    if (unusedMs >= days * DAY_MS) this.#keys.add({ teamId, keyId: idlestKey.keyId, unusedSeconds: Math.floor(unusedMs / SECOND_MS) });
  }

  result(passedAtMs: number): TeamsNearLimits {
    const [quota, credit, keys] = [this.#quota, this.#credit, this.#keys];
    const counts = { all: this.#all, quota_nearly_used: quota.count, credit_low: credit.count, key_unused: keys.count };
    return { passedAtMs, counts, quota: quota.worst, credit: credit.worst, keys: keys.worst };
  }
}
