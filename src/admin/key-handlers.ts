// The admin API's handlers for keys: list, create, change, revoke, find.
import { refuse } from '../core/problem.ts';
import type { Refusal } from '../core/outcome.ts';
import { matchesDisplay, matchesKeyPattern } from '../domain/api-key.ts';
import { judgeLimits, LIMIT_NAMES } from '../domain/given-key-limits.ts';
import type { LimitName } from '../domain/given-key-limits.ts';
import type { JsonMembers } from '../domain/json-body.ts';
import { changedLimits } from '../domain/key-limits.ts';
import type { KeyChange } from '../ports/team-registry.ts';
import { nameOf } from './admin-input.ts';
import type { AdminOperations } from './admin-operations.ts';
import { done, NO_KEY, NO_TEAM, withId } from './admin-refusals.ts';
import type { Handled } from './admin-refusals.ts';
import type { AdminRouteId } from './admin-routes.ts';
import { changedKeyReport, foundKeyReport, keyReport } from './reports.ts';

/** The part of a handler's input that these need. */
interface KeyInput {
  readonly operations: AdminOperations;
  readonly parameter: string;
  readonly body: JsonMembers;
  readonly id: string | undefined;
}

type KeyRouteId = Extract<AdminRouteId, 'listKeys' | 'createKey' | 'updateKey' | 'revokeKey' | 'findKeys'>;

/** `nowMs` is the wall clock. */
export function keyHandlers(nowMs: () => number): Readonly<Record<KeyRouteId, (input: KeyInput) => Promise<Handled>>> {
  return {
    listKeys: ({ operations, parameter }) =>
      withId(parameter, NO_TEAM, async (id) => done(await operations.listKeys(id), (keys) => ({ value: { keys: keys.map(keyReport) } }))),
    createKey: ({ operations, parameter, body, id }) =>
      withId(parameter, NO_TEAM, async (teamId) => {
        const terms = keyTermsOf(body, nowMs());
        if ('kind' in terms) return terms;
        const { label = '', disabled = false, limits = {} } = terms;
        const draft = { id, teamId, mode: body['mode'] as 'live' | 'test', label, disabled, limits: changedLimits({}, limits) };
        const result = await operations.createKey(draft);
        return done(result, (report) => ({ value: report, audit: { team_id: teamId, key_id: report.key_id } }));
      }),
    updateKey: ({ operations, parameter, body }) =>
      withId(parameter, NO_KEY, async (id) => {
        const terms = keyTermsOf(body, nowMs());
        if ('kind' in terms) return terms;
        return done(await operations.updateKey(id, terms), (key) => ({
          value: changedKeyReport(key),
          audit: { team_id: key.teamId, key_id: key.keyId },
        }));
      }),
    revokeKey: ({ operations, parameter }) =>
      withId(parameter, NO_KEY, async (id) =>
        done(await operations.revokeKey(id), (key) => ({
          value: { key_id: key.keyId, status: key.status },
          audit: { team_id: key.teamId, key_id: key.keyId },
        })),
      ),
    findKeys: async ({ operations, body }) => {
      const search = keySearchOf(body);
      if ('kind' in search) return search;
      return done(await operations.findKeys(search), (keys) => ({ value: { keys: keys.map(foundKeyReport) } }));
    },
  };
}

/** The members of a body about a key, besides its mode. A limit that is `null` is removed. */
function keyTermsOf(body: JsonMembers, nowMs: number): KeyChange | Refusal {
  const label = body['label'] === '' || body['label'] === undefined ? body['label'] : nameOf(body, 'label');
  if (typeof label === 'object') return label;
  const given = (Object.keys(LIMIT_NAMES) as LimitName[]).filter((name) => body[name] !== undefined);
  const judged = judgeLimits(Object.fromEntries(given.flatMap((name) => (body[name] === null ? [] : [[name, body[name]]]))), nowMs);
  if ('fault' in judged) {
    const { name, at, fault } = judged;
    return refuse('validation_error', `${name}${at === undefined ? '' : `[${at}]`}: ${fault}.`);
  }
  const removed = given.filter((name) => body[name] === null).map((name) => [LIMIT_NAMES[name], null] as const);
  const disabled = body['disabled'] as boolean | undefined;
  return {
    ...(label === undefined ? {} : { label }),
    ...(disabled === undefined ? {} : { disabled }),
    ...(given.length === 0 ? {} : { limits: { ...judged.limits, ...Object.fromEntries(removed) } }),
  };
}

/** What identifies the key to find; refusals never repeat it. */
function keySearchOf({ key, display }: JsonMembers): { readonly key: string } | { readonly display: string } | Refusal {
  if ((key === undefined) === (display === undefined)) return refuse('validation_error', 'body: must have exactly one of key and display.');
  if (typeof key === 'string') {
    if (matchesKeyPattern(key)) return { key };
    return refuse(
      'validation_error',
      'key: must be a whole key, la_live_ or la_test_ and 40 letters and digits; for its first characters use display.',
    );
  }
  if (typeof display === 'string' && matchesDisplay(display)) return { display };
  return refuse('validation_error', 'display: must be the first twelve characters of a key, for example la_live_Ab3d.');
}
