// What every operation of an operator shares: the store, who acts, and what follows a change.
import type { Audited } from '../domain/audit-entry.ts';
import type { Plan } from '../domain/plan.ts';
import type { RecentRequest } from '../ports/access-entry.ts';
import type { AuditLog } from '../ports/audit-log.ts';
import type { DocumentStore } from '../ports/documents.ts';
import type { GlossaryStore } from '../ports/glossary-store.ts';
import type { RefusalDays } from '../ports/usage-history.ts';
import type { TagHistory, TagRegistry } from '../ports/tag-registry.ts';
import type { TeamRegistry } from '../ports/team-registry.ts';
import type { UsageHistory } from '../ports/usage-history.ts';
import type { AdminOperation } from './operation.ts';
import type { LiveReport } from './operations/live.ts';

/** The plans of the configuration by their names. */
export type Plans = ReadonlyMap<string, Plan>;

/** Where settings of tags are stored, and how many a team may have. */
interface TagPlace {
  readonly registry: TagRegistry;
  /** `limits.tags`; called for each change, because the configuration can be reloaded. */
  readonly most: () => number;
}

export interface AdminOptions {
  readonly teams: TeamRegistry;
  /** Called for each operation, because plans can be reloaded. */
  readonly plans: () => Plans;
  /** Generates the ids of records: ULIDs. */
  readonly newId: () => string;
  readonly audit: AuditLog;
  /** What only some operations work on: without it they throw. */
  readonly tags?: TagPlace;
  readonly glossaries?: GlossaryStore;
  readonly history?: UsageHistory;
  readonly tagHistory?: TagHistory;
  /** Called when they are needed: their code is not that of most commands. */
  readonly documents?: () => Promise<Pick<DocumentStore, 'newest' | 'find'>>;
  /** The latest refused and failed requests of all processes, newest first. */
  readonly recentRequests?: () => Promise<readonly RecentRequest[]>;
  /** The last 15 minutes of all processes. */
  readonly live?: () => Promise<LiveReport>;
  /** Deletes what plugins keep of a team; the names of those that could not be reached. */
  readonly forget?: (teamId: string) => Promise<readonly string[]>;
  /** The wall clock. */
  readonly nowMs?: () => number;
  /** Without it, refusals are not reported. */
  readonly refusals?: RefusalDays;
  /** After each change to an existing team or key: what a gateway remembers is outdated. */
  readonly onChange?: (() => void | Promise<void>) | undefined;
  /** Who makes the changes, for the audit; `undefined` for read-only use. */
  readonly actor?: string;
}

/** The options, and the steps before and after a change. */
export class OperationContext {
  readonly options: AdminOptions;

  constructor(options: AdminOptions) {
    this.options = options;
  }

  /** The same, in this operator's name. */
  as(actor: string): OperationContext {
    return new OperationContext({ ...this.options, actor });
  }

  /** A part that an operation works on. */
  part<Name extends 'tags' | 'glossaries' | 'history' | 'documents' | 'recentRequests' | 'live'>(
    name: Name,
  ): NonNullable<AdminOptions[Name]> {
    const part = this.options[name];
    if (part === undefined) throw new Error(`an operation without ${name}`);
    return part;
  }

  nowMs(): number {
    return (this.options.nowMs ?? Date.now)();
  }

  /** For the audit: who acts, and by which operation; some commands have an action of their own. */
  by({ id: action }: Pick<AdminOperation, 'id'>, reason?: string): Audited {
    const { actor } = this.options;
    if (actor === undefined) throw new Error(`${action} without an actor`);
    return { actor, action, ...(reason === undefined ? {} : { reason }) };
  }

  /** Whether the change was made or not, what gateways remember is outdated after it. */
  async changing<T>(change: Promise<T>): Promise<T> {
    try {
      return await change;
    } finally {
      await this.options.onChange?.();
    }
  }

  /** Waits until a replica has what was written to these teams, see the port. */
  replicated(teamIds: readonly string[]): Promise<boolean | undefined> {
    return this.options.teams.replicated(teamIds);
  }
}
