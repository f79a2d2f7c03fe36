// Opens the configured store for a command, and turns refusals of its operations into error messages.
import { hostname, userInfo } from 'node:os';
import type { AdminOperations } from '../admin/admin-operations.ts';
import { replicatedWarning, resultMembers } from '../admin/admin-result.ts';
import type { AdminRefusal, AdminResult, AnyResult } from '../admin/admin-result.ts';
import { noSuch } from '../admin/operation.ts';
import type { Config } from '../config/config.ts';
import { dearerText, minorText } from '../admin/dearer-text.ts';
import { nearest } from '../config/nearest.ts';
import { stepText } from '../domain/clock-judge.ts';
import { NoStoreError, storeErrorOf } from '../domain/store-unavailable.ts';
import { ulidSource } from '../domain/ulid.ts';
import type { ClockStep } from '../ports/clock.ts';
import type { Store, StoreCreation, StoreMigration } from '../ports/store.ts';
import { CommandFailure } from './command.ts';
import type { CommandContext } from './command.ts';

/** Rejects with a `StoreError` if the store cannot be opened, and with a `CommandFailure` if there is none. */
export async function withStore(
  context: CommandContext,
  use: (store: Store, config: Config, nowMs: () => number) => Promise<void>,
  onMigrated?: StoreCreation['onMigrated'],
): Promise<void> {
  const config = await context.config();
  const { openPatiently } = await import('../app/configured-store.ts');
  const { name } = context;
  const { makesStore = false, migratesStore = false } = context.command;
  const acceptsClock = context.on(ACCEPT_CLOCK);
  const creation: StoreCreation = {
    mayCreate: makesStore,
    onCreated: (place) => context.io.err(newStoreText(name, place)),
    mayMigrate: migratesStore,
    onMigrated: onMigrated ?? ((place, migration) => context.io.err(migratedText(name, place, migration))),
  };
  const opened = await openPatiently(config, creation).catch(whereNoStore(config));
  try {
    const step = opened.store.clock.step();
    if (step !== undefined && !acceptsClock) context.io.err(wrongClockText(name, step));
    await use(opened.store, config, opened.clock.nowMs);
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

function migratedText(command: string, place: string, { from, to, copy }: StoreMigration): string {
  return `lingate ${command}: migrated ${place} from schema ${from} to ${to}; a copy of the old file is at ${copy}\n`;
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
export async function withAdmin(context: CommandContext, use: (admin: AdminOperations, store: Store) => Promise<void>): Promise<void> {
  await withStore(context, async (store, config, nowMs) => {
    const { refusalDaysOf } = await import('../app/configured-store.ts');
    const operations = await import('../admin/admin-operations.ts');
    const { plans, limits } = config;
    const newId = ulidSource(nowMs);
    const refusals = refusalDaysOf(store, config);
    const { teams, audit } = store;
    const tags = { registry: store.tagSettings, most: () => limits.tags };
    const documents = async () => (await import('../app/listed-documents.ts')).documentsOf(store, nowMs);
    const { glossaries, history, tags: tagHistory } = store;
    const parts = { tags, refusals, glossaries, history, tagHistory, documents, nowMs };
    await use(new operations.AdminOperations({ teams, plans: () => plans, newId, audit, ...parts, actor: commandActor() }), store);
  });
}

/** Who runs the command, as the audit records it. */
export function commandActor(): string {
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

/** The value, or throws a `CommandFailure` or `StoreError` that says what to do. `creditFlag` is this command's flag for credit. */
export function valueOf<T>(result: AdminResult<T>, creditFlag = '--credit-minor'): T {
  if (result.kind === 'done') return result.value;
  if (result.kind === 'unavailable') throw storeErrorOf(result);
  throw new CommandFailure(wordsOf(result, creditFlag));
}

/** Prints a change that was made, with its warnings. */
export function printChange(context: CommandContext, result: AnyResult, report: object, text: string): void {
  const members = resultMembers(result);
  for (const warning of members.warnings ?? []) context.io.err(`lingate ${context.name}: warning: ${warning}\n`);
  context.print({ ...report, ...members }, () => saying(text, result));
}

/** The text, with a warning if a failover may undo the change. */
export function saying(text: string, result: AnyResult): string {
  const warning = replicatedWarning(result);
  return warning === undefined ? text : `${text}\n\n${warning}`;
}

function wordsOf(refusal: AdminRefusal, creditFlag: string): string {
  switch (refusal.kind) {
    case 'no_such_team':
      return noSuch('team', refusal.teamId).named!;
    case 'no_such_plan': {
      const meant = nearest(refusal.plan, refusal.plans);
      const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
      return `the configuration has no plan ${JSON.stringify(refusal.plan)}; the plans are ${refusal.plans.join(', ')}${hint}`;
    }
    case 'plan_takes_no_credit':
      return `plan ${refusal.plan} has billing quota, which takes no credit; leave out ${creditFlag} or choose a credit plan`;
    case 'other_request':
      return 'another change has already used this id';
    case 'balance_too_large':
      return `the balance would exceed ${refusal.maxMinor} minor units, the most that a team can have; add less`;
    case 'credit_not_free':
      return `at most ${refusal.freeMinor} minor units can be deducted: ${refusal.isHeld ? 'open reservations hold the rest' : 'the whole balance'}`;
    case 'dearer':
      return `nothing was changed: this ${dearerText(refusal.dearer, minorText(refusal.currency))}; use --yes, or --when next-period`;
    case 'reason_missing':
      return 'deducting credit requires a --reason, which the audit records';
  }
}
