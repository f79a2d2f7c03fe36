// Has plugins drop what they remember of teams that were deleted, or that an operator wants forgotten: the audit tells every process.
import type { AuditEntry } from '../domain/audit-entry.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { AuditLog } from '../ports/audit-log.ts';
import type { Log } from '../ports/log.ts';

export interface Forgetful {
  readonly plugin: string;
  forget(teamId: string | undefined): unknown;
}

export interface ForgettingOptions {
  readonly audit: Pick<AuditLog, 'page'>;
  readonly plugins: readonly Forgetful[];
  readonly log: Log;
  /** The wall clock, as far as the store's agrees with it. */
  readonly nowMs: () => number;
}

interface Due {
  readonly plugin: Forgetful;
  readonly teamId: string | undefined;
}

const LOOK_EVERY_MS = 5000;
/** Entries may be listed so much later than their moment says: clocks differ. */
const OVERLAP_MS = 60_000;
const PAGE = 200;

export class Forgetting {
  readonly #options: ForgettingOptions;
  readonly #timer: NodeJS.Timeout;
  #fromMs: number;
  /** Ids of entries that were read and may be read again. */
  readonly #read = new Map<string, number>();
  #due: Due[] = [];
  #looking: Promise<void> | undefined = undefined;
  #failed = false;
  #broken = false;

  constructor(options: ForgettingOptions) {
    this.#options = options;
    this.#fromMs = options.nowMs() - OVERLAP_MS;
    this.#timer = setInterval(() => void this.look(), LOOK_EVERY_MS).unref();
  }

  /** Never rejects, whatever a store or a plugin does. What fails is tried again with the next look. */
  look(): Promise<void> {
    this.#looking ??= this.#look()
      .then(
        () => (this.#broken = false),
        () => this.#storeBroken(),
      )
      .then(() => (this.#looking = undefined));
    return this.#looking;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  /** One that is away says so and does not reject; a rejection here must not end the process. */
  #storeBroken(): void {
    if (!this.#broken) this.#options.log.warn('the audit cannot be read: plugins do not learn of teams that are deleted until it can');
    this.#broken = true;
  }

  async #look(): Promise<void> {
    const { plugins } = this.#options;
    for (const { action, teamId } of await this.#newEntries()) {
      if (action === 'clearMemory' || (action === 'deleteTeam' && teamId !== undefined)) {
        this.#due.push(...plugins.map((plugin) => ({ plugin, teamId })));
      }
    }
    const failed: Due[] = [];
    for (const due of this.#due) if (!(await this.#forgotten(due))) failed.push(due);
    this.#due = failed;
    this.#failed = failed.length > 0;
  }

  async #forgotten({ plugin, teamId }: Due): Promise<boolean> {
    try {
      await plugin.forget(teamId);
      return true;
    } catch {
      if (!this.#failed) {
        this.#options.log.warn('a plugin cannot drop what it remembers of a team: it is tried again until it can', {
          plugin: plugin.plugin,
        });
      }
      this.#failed = true;
      return false;
    }
  }

  /** A store that is away has none: they are read when it is back. */
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
    // One from a clock that is ahead must not hide those that come before its moment.
    const newestMs = Math.min(this.#options.nowMs(), Math.max(...found.map(({ atMs }) => atMs)));
    this.#fromMs = Math.max(this.#fromMs, newestMs - OVERLAP_MS);
    for (const [id, atMs] of this.#read) if (atMs < this.#fromMs) this.#read.delete(id);
    return found;
  }
}
