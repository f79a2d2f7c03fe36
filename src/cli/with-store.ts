// Opens the configured store for a command, and prints what was changed in it; has plugins delete
// what they share.
import { hostname, userInfo } from 'node:os';
import { OperationContext } from '../admin/operation-context.ts';
import type { AdminOptions } from '../admin/operation-context.ts';
import { membersBeside, replicatedWarning } from '../admin/operation.ts';
import type { Done } from '../admin/operation.ts';
import type { Config } from '../config/config.ts';
import { stepText } from '../domain/clock-judge.ts';
import { NoStoreError } from '../domain/store-unavailable.ts';
import { ulidSource } from '../domain/ulid.ts';
import type { ClockStep } from '../ports/clock.ts';
import type { Store } from '../ports/store.ts';
import { CommandFailure } from './command.ts';
import type { CommandContext } from './command.ts';
import { typed } from './help.ts';

/** Rejects with a `StoreError` if it cannot be opened, with a `CommandFailure` if there is none. */
export async function withStore<T>(
  context: CommandContext,
  use: (store: Store, config: Config, nowMs: () => number) => Promise<T>,
): Promise<T> {
  const config = await context.config();
  const { openPatiently } = await import('../app/configured-store.ts');
  const { name, makesStore = false } = context.command;
  const acceptsClock = context.on(ACCEPT_CLOCK);
  const creation = {
    mayCreate: makesStore,
    onCreated: (place: string) => context.io.err(newStoreText(name, place)),
  };
  const opened = await openPatiently(config, creation).catch(whereNoStore(config));
  try {
    const step = opened.store.clock.step();
    if (step !== undefined && !acceptsClock) context.io.err(wrongClockText(name, step));
    return await use(opened.store, config, opened.clock.nowMs);
  } finally {
    await opened.close();
  }
}

/** The flag of the command that vouches for a clock. */
export const ACCEPT_CLOCK = 'accept-clock';

function wrongClockText(command: string, { byMs, server }: ClockStep): string {
  const whose = server === undefined ? "this machine's clock" : `the clock of ${server}`;
  return `lingate ${command}: ${whose} is ${stepText(byMs)} the store's latest time, by which the command goes; set it right, or if it is, run "lingate store check --accept-clock"
`;
}

/** Printed on standard error when a command has created a store. */
export function newStoreText(command: string, place: string): string {
  return `lingate ${command}: made a new database, ${place}\n`;
}

/** For an operation that needs a database: the message if there is none. */
export function whereNoStore({ sources }: Config): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof NoStoreError)) throw error;
    const origin = sources.store === 'the default' ? 'which is the default, because nothing names a store' : `which ${sources.store} names`;
    throw new CommandFailure(
      `there is no database at ${error.place}, ${origin}; name the right one by --store, LINGATE_STORE or the configuration, or create this one with "lingate team create" or "lingate serve"`,
    );
  };
}

/** Rejects with a `StoreError` if the store cannot be opened. */
export async function withAdmin(context: CommandContext, use: (on: OperationContext) => Promise<void>): Promise<void> {
  await withStore(context, async (store, config, nowMs) => {
    const { documentsOf, refusalDaysOf } = await import('../app/configured-store.ts');
    const documents = () => documentsOf(store, nowMs);
    // Running gateways clear their own caches; this clears shared ones, in case none is running.
    const forget = async (teamId: string) => awayOf(await forgetInPlugins(config, teamId));
    const tags = { registry: store.tagSettings, most: () => config.limits.tags };
    const { glossaries, history, tags: tagHistory } = store;
    const parts = { tags, refusals: refusalDaysOf(store, config), glossaries, history, tagHistory, documents, forget };
    await use(commandOn(store, config, nowMs, parts));
  });
}

/** What operations work on, in the name of who runs the command. */
export function commandOn(
  { teams, audit }: Pick<Store, 'teams' | 'audit'>,
  { plans }: Pick<Config, 'plans'>,
  nowMs: () => number,
  parts: Partial<AdminOptions> = {},
): OperationContext {
  return new OperationContext({ teams, audit, plans: () => plans, newId: ulidSource(nowMs), nowMs, ...parts, actor: commandActor() });
}

/** Who runs the command, as the audit records it. */
function commandActor(): string {
  return `cli:${userName()}@${hostname()}`;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A user id without a name, as in many containers.
    return String(process.getuid?.() ?? 'unknown');
  }
}

/** Prints a change that was made, with its warnings. Throws a `CommandFailure` afterwards if a failover may undo it. */
export function printChange(context: CommandContext, made: Done<unknown>, report: object, text: string): void {
  for (const warning of made.warnings ?? []) context.io.err(`lingate ${context.command.name}: warning: ${warning}\n`);
  context.print({ ...report, ...membersBeside(made) }, () => typed(text, context.io.env));
  const warning = replicatedWarning(made);
  if (warning !== undefined) throw new CommandFailure(warning);
}

/** How many items it deleted; `undefined` if its processes share nothing. */
type Forgot = number | undefined | 'away';

/** By plugin, only of those that store data of teams. Rejects with a `ConfigError` if one cannot be loaded. */
export async function forgetInPlugins(config: Config, teamId: string | undefined): Promise<ReadonlyMap<string, Forgot>> {
  const forgot = new Map<string, Forgot>();
  if (config.plugins.length === 0) return forgot;
  const { withPlugins } = await import('../config/plugins.ts');
  return withPlugins(config.plugins, async ({ forgetful }) => {
    for (const { plugin, forget } of forgetful) {
      try {
        forgot.set(plugin, await forget(teamId));
      } catch {
        forgot.set(plugin, 'away');
      }
    }
    return forgot;
  });
}

/** The plugins whose store could not be reached. */
export function awayOf(forgot: ReadonlyMap<string, Forgot>): readonly string[] {
  return [...forgot].flatMap(([plugin, answer]) => (answer === 'away' ? [plugin] : []));
}
