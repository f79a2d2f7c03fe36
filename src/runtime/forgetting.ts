// Makes plugins and engines forget deleted teams, of which every process learns from the audit, and
// has engines that store dictionaries tidied once an hour.
import type { AuditEntry } from '../domain/audit-entry.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { AuditLog } from '../ports/audit-log.ts';
import type { Log } from '../ports/log.ts';
import type { GlossaryUpkeep, ReplicaTrial } from '../ports/engine.ts';
import { Rounds } from './rounds.ts';
import { Spell } from './spell.ts';

export interface Forgetful {
  readonly plugin: string;
  forget(teamId: string | undefined): unknown;
}

interface ForgettingOptions {
  readonly audit: Pick<AuditLog, 'page'>;
  readonly plugins: readonly Forgetful[];
  readonly log: Log;
  /** The wall clock, assumed to be close to the store's. */
  readonly nowMs: () => number;
}

interface Due {
  readonly plugin: Forgetful;
  readonly teamId: string | undefined;
}

const LOOK_EVERY_MS = 2000;
/** Entries may appear this much later than their timestamp, because clocks differ. */
const OVERLAP_MS = 60_000;
const PAGE = 200;

export class Forgetting {
  readonly #options: ForgettingOptions;
  readonly #looks: Rounds;
  #fromMs: number;
  /** Ids of entries already processed that a later read may return again. */
  readonly #read = new Map<string, number>();
  #due: readonly Due[] = [];
  readonly #unreadable: Spell<true>;

  constructor(options: ForgettingOptions) {
    this.#options = options;
    const begins = (): void => options.log.warn('the audit cannot be read: until it can, plugins do not forget deleted teams');
    this.#unreadable = new Spell({ begins });
    this.#fromMs = options.nowMs() - OVERLAP_MS;
    this.#looks = new Rounds(LOOK_EVERY_MS, () => this.#look());
  }

  close(): Promise<void> {
    return this.#looks.close();
  }

  /** Never rejects, whatever a store or plugin does. Failures are retried with the next look. */
  async #look(): Promise<void> {
    const { plugins, log } = this.#options;
    const entries = await this.#newEntries().catch(() => undefined);
    // A store that is down returns `unavailable`.
    this.#unreadable.note(entries === undefined ? true : undefined);
    const isReported = this.#due.length > 0;
    const teams = (entries ?? []).filter(
      ({ action, teamId }) => action === 'clearMemory' || (action === 'deleteTeam' && teamId !== undefined),
    );
    const due = [...this.#due, ...teams.flatMap(({ teamId }) => plugins.map((plugin) => ({ plugin, teamId })))];
    const failed: Due[] = [];
    for (const one of due) if (!(await isForgotten(one))) failed.push(one);
    this.#due = failed;
    if (failed[0] !== undefined && !isReported)
      log.warn('a plugin could not forget a team: retrying until it can', { plugin: failed[0].plugin.plugin });
  }

  /** Returns nothing if the store is unavailable; the entries are read once it is back. */
  async #newEntries(): Promise<readonly AuditEntry[]> {
    const found: AuditEntry[] = [];
    let after: string | undefined;
    do {
      const page = await this.#options.audit.page({ teamId: undefined, after, sinceMs: this.#fromMs, limit: PAGE });
      if (isUnavailable(page)) return [];
      found.push(...page.filter(({ id }) => !this.#read.has(id)));
      after = page.length === PAGE ? page.at(-1)!.id : undefined;
    } while (after !== undefined);
    for (const { id, atMs } of found) this.#read.set(id, atMs);
    // An entry from a clock that is ahead must not hide entries with earlier timestamps.
    const newestMs = Math.min(this.#options.nowMs(), Math.max(...found.map(({ atMs }) => atMs)));
    this.#fromMs = Math.max(this.#fromMs, newestMs - OVERLAP_MS);
    for (const [id, atMs] of this.#read) if (atMs < this.#fromMs) this.#read.delete(id);
    return found;
  }
}

async function isForgotten({ plugin, teamId }: Due): Promise<boolean> {
  try {
    await plugin.forget(teamId);
    return true;
  } catch {
    return false;
  }
}

interface GlossaryUpkeepOptions {
  /** By name; those without `upkeep` keep none. */
  readonly engines: ReadonlyMap<string, { readonly upkeep: GlossaryUpkeep | undefined }>;
  /** The time that is believed: dictionaries are removed by it. */
  readonly nowMs: () => number;
  readonly log: Log;
}

/** Not at the start: a gateway that has just been started has used nothing yet. */
const FIRST_MS = 600_000;
const EVERY_MS = 3_600_000;

export class GlossaryUpkeepTimer {
  /** What forgets deleted teams. */
  readonly forgetful: readonly Forgetful[];
  readonly #options: GlossaryUpkeepOptions;
  readonly #rounds: Rounds | undefined;
  /** Engines whose last failure was logged. */
  readonly #failing = new Set<string>();

  constructor(options: GlossaryUpkeepOptions) {
    this.#options = options;
    this.forgetful = [...options.engines].flatMap(([name, { upkeep }]) =>
      upkeep === undefined ? [] : [{ plugin: `engine ${name}`, forget: (teamId) => forget(upkeep, teamId) }],
    );
    if (this.forgetful.length > 0) this.#rounds = new Rounds(EVERY_MS, () => this.#tidy(), FIRST_MS);
  }

  close(): void {
    void this.#rounds?.close();
  }

  /** Never rejects. */
  async #tidy(): Promise<void> {
    const { engines, nowMs, log } = this.#options;
    for (const [engine, { upkeep }] of engines) {
      const [failed] = (await upkeep?.tidy(nowMs())) ?? [];
      if (failed === undefined) this.#failing.delete(engine);
      else if (!this.#failing.has(engine)) {
        this.#failing.add(engine);
        log.warn('glossaries that nobody uses any more could not be removed at an engine: tried again every hour', {
          engine,
          replica: failed.url,
          failure: failed.failure!.failure,
        });
      }
    }
  }
}

/** Rejects if it failed anywhere, to be tried again. Cached translations are no dictionaries. */
async function forget(upkeep: GlossaryUpkeep, teamId: string | undefined): Promise<void> {
  const failed: readonly ReplicaTrial[] = teamId === undefined ? [] : await upkeep.forget(teamId);
  if (failed.length > 0) throw new Error('not all replicas have removed the dictionaries of a team');
}
