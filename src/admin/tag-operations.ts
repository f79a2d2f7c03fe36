// The operations on tags with limits: set, list, show, remove. One implementation for command line, admin API and console.
import type { Static } from 'typebox';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { TagSettings } from '../domain/tag-settings.ts';
import { usedLimits } from '../domain/usage-report.ts';
import type { SetTag } from '../ports/tag-registry.ts';
import { done, ofTeam } from './admin-result.ts';
import type { AdminResult } from './admin-result.ts';
import type { OperationContext, TagPlace } from './operation-context.ts';
import { limitsReport } from './reports.ts';
import type { TagAnswer } from './tag-schemas.ts';

/** Of `AdminOperations`, which has the same rules for ids. Tags are as `readTag` (domain/request-tag.ts) returns them. */
export class TagOperations {
  readonly #context: OperationContext;

  constructor(context: OperationContext) {
    this.#context = context;
  }

  /** Those with settings, sorted by tag. */
  async list(teamId: string): Promise<AdminResult<readonly SetTag[]>> {
    return ofTeam(teamId, await this.#place.registry.list(teamId));
  }

  async show(teamId: string, tag: string): Promise<AdminResult<SetTag>> {
    const found = await this.#place.registry.find(teamId, tag);
    if (found === undefined) return this.#nothingOf(teamId, tag);
    return isUnavailable(found) ? found : done(found);
  }

  /** Replaces all settings of the tag. */
  async set(teamId: string, tag: string, settings: TagSettings): Promise<AdminResult<SetTag>> {
    const { registry, most } = this.#place;
    const changed = await this.#context.changing(registry.set(teamId, tag, settings, most(), this.#context.by('setTag')));
    switch (changed.kind) {
      case 'set':
        return done(changed.tag, await this.#context.replicated([teamId]));
      case 'limit_reached':
        return { kind: 'too_many_tags', most: changed.most };
      case 'team_unknown':
        return { kind: 'no_such_team', teamId };
      case 'unavailable':
        return changed;
    }
  }

  /** Removes all settings of the tag: what was counted for them counts for nothing any more. */
  async remove(teamId: string, tag: string): Promise<AdminResult<{ readonly tag: string }>> {
    const removed = await this.#context.changing(this.#place.registry.remove(teamId, tag, this.#context.by('deleteTag')));
    if (isUnavailable(removed)) return removed;
    return removed ? done({ tag }, await this.#context.replicated([teamId])) : this.#nothingOf(teamId, tag);
  }

  async #nothingOf(teamId: string, tag: string): Promise<AdminResult<never>> {
    const team = ofTeam(teamId, await this.#context.options.teams.findTeam(teamId));
    return team.kind === 'done' ? { kind: 'no_such_tag', teamId, tag } : team;
  }

  get #place(): TagPlace {
    const { tags } = this.#context.options;
    if (tags === undefined) throw new Error('operations on tags without a place for them');
    return tags;
  }
}

export type TagReport = Static<typeof TagAnswer>;

/** Members in output order: those of its settings could be sent back. */
export function tagReport({ tag, settings, use }: SetTag): TagReport {
  const { requestsPerSecond, characters, windows, disabled } = settings;
  return {
    tag,
    disabled,
    ...limitsReport({
      ...(requestsPerSecond === undefined ? {} : { requestsPerSecond }),
      ...(characters === undefined ? {} : { characters }),
      ...(windows === undefined ? {} : { windows }),
    }),
    used: { characters: use.characters, ...(use.windows.length === 0 ? {} : usedLimits(use.windows)) },
  };
}
