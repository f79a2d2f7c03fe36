// An operation as a route of the admin API: its row in the table, and the answer to a request.
import type { TObject, TProperties, TSchema } from 'typebox';
import { downloadOf } from './csv.ts';
import type { Download } from './csv.ts';
import type { JsonMembers } from '../domain/json-body.ts';
import { Type } from '../domain/typebox.ts';
import { closed, orNull } from './fields.ts';
import { checked, fieldsOf, valueOf } from './input.ts';
import type { GivenMembers, InputField } from './input.ts';
import { PAGE_DEFAULT, PAGE_MAX, pageAt } from './listing.ts';
import type { OperationContext } from './operation-context.ts';
import { changes, done, inPath, methodOf, pathOf, RefusedError, refused } from './operation.ts';
import type { AdminOperation, Done, OperationAttempt } from './operation.ts';

/** A route of the admin API. */
export interface AdminRoute {
  /** The `operationId`. */
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below `/admin/v1`; `{id}`, `{name}` and `{tag}` are segments, the last percent-encoded. */
  readonly path: string;
  readonly body?: TObject;
  readonly status: 200 | 201 | 204;
  /** Absent with 204. */
  readonly answer?: TSchema;
  /** Query parameters with their descriptions. */
  readonly query?: Readonly<Record<string, string>>;
  /** With all that the route takes. */
  readonly operation: AdminOperation;
}

const replicated = Type.Optional(
  Type.Boolean({
    description:
      'Whether a replica of the store has the change. `false`: it is in effect, but a failover may undo it. Absent if the store has no replicas, or if nothing was revoked, disabled, limited or paid.',
  }),
);

/** What every listing takes besides. */
const PAGE = {
  cursor: Type.Optional(Type.String({ description: 'The `next` of the previous page.' })),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: PAGE_MAX,
      description: `The most rows of a page, 1 to ${PAGE_MAX}; ${PAGE_DEFAULT} by default. A page that checked thousands for a filter can be shorter, even empty, and still have a next one.`,
    }),
  ),
};

/** Without what only the command takes. */
export function forPrograms(one: AdminOperation): AdminOperation {
  const isShared = ([, schema]: readonly [string, TSchema]): boolean => (schema as InputField).given?.only !== 'command';
  const properties = Object.fromEntries(Object.entries(one.input.properties).filter(isShared));
  return { ...one, input: Type.Object(properties, closed) };
}

const FORMAT = {
  format: Type.Optional(Type.Enum(['json', 'csv'], { type: 'string', description: 'json (the default) or csv, which has all rows.' })),
};

export function routeOf(one: AdminOperation): AdminRoute {
  const { listing, clears = [], status = 200 } = one;
  const method = methodOf(one) as AdminRoute['method'];
  const taken = forPrograms(one);
  const input =
    listing === undefined ? taken.input : Type.Object({ ...taken.input.properties, ...PAGE, ...(listing.file && FORMAT) }, closed);
  const rest = Object.entries(input.properties).filter(([name]) => !inPath(one).includes(name));
  const isBody = method !== 'GET' && method !== 'DELETE';
  const described = rest.map(([name, schema]) => [name, schema, (schema as InputField).description ?? ''] as const);
  const removable = described.map(([name, schema, about]) => [
    name,
    clears.includes(name) ? Type.Optional(orNull(schema, `${about} \`null\` removes it.`)) : schema,
  ]);
  return {
    id: one.id,
    method,
    path: pathOf(one),
    operation: { ...taken, input },
    body: isBody && rest.length > 0 ? Type.Object(Object.fromEntries(removable) as TProperties, closed) : undefined,
    query: isBody || rest.length === 0 ? undefined : Object.fromEntries(described.map(([name, , about]) => [name, about])),
    status,
    answer: status === 204 ? undefined : answerOf(one),
  };
}

function answerOf(one: AdminOperation): TSchema {
  const { row, list, listing } = one;
  if (list === undefined) return changes(one) ? Type.Object({ ...(row as TObject).properties, replicated }) : row;
  const next: TProperties = listing === undefined ? {} : { next: Type.Union([Type.String(), Type.Null()]) };
  const { missing } = listing ?? {};
  const more = missing && { [missing.member]: Type.Optional(Type.Integer({ minimum: 1, description: missing.about })) };
  return Type.Object({ [list]: Type.Array(row), ...next, ...more });
}

interface Asked {
  /** As they were sent. */
  readonly segments: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: JsonMembers;
  readonly attempt: OperationAttempt;
}

/** From path, query and body, checked together; the log line of a change names the input. */
export async function answerTo(
  one: AdminOperation,
  context: OperationContext,
  { segments, query, body, attempt }: Asked,
): Promise<{ readonly input: GivenMembers; readonly result: Done<unknown> | Download }> {
  const nowMs = context.nowMs();
  const misplaced = Object.keys(body).find((name) => Object.hasOwn(segments, name));
  if (misplaced !== undefined) throw new RefusedError(refused(misplaced, 'is in the path, and has no place in the body'));
  const fields = fieldsOf(one);
  const inText = [...Object.entries(segments).map(([name, segment]) => [name, decoded(segment)] as const), ...query];
  // An empty parameter, as a form sends it, counts as absent.
  const texts = inText.filter(([name, sent]) => sent !== '' || name in segments);
  const given = Object.fromEntries(texts.map(([name, sent]) => [name, valueOf(fields.get(name) ?? {}, [sent], nowMs)]));
  const input: GivenMembers = checked(one, { ...body, ...given }, nowMs);
  if (one.listing !== undefined) return { input, result: await listed(one, context, input) };
  const result = await one.run!(context, input, attempt);
  return { input, result: one.list === undefined ? result : { ...result, value: { [one.list]: result.value } } };
}

async function listed(one: AdminOperation, context: OperationContext, given: GivenMembers): Promise<Done<unknown> | Download> {
  const { cursor, limit = PAGE_DEFAULT, format, ...input } = given;
  if (format === 'csv' && cursor !== undefined)
    throw new RefusedError(refused('cursor', 'cannot be used with format=csv, which has all rows'));
  if (format === 'csv') return downloadOf(one, context, input);
  const { rows, next = null, missing } = await pageAt(one, context, input, cursor as string | undefined, limit as number);
  return done({ [one.list!]: rows, next, ...(missing.length > 0 && { [one.listing!.missing!.member]: missing.length }) });
}

/** What is not percent-encoded UTF-8 becomes what is valid nowhere. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return '\u{fffd}';
  }
}
