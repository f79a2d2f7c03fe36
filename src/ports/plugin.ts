// A plugin adds steps, routes, text changes, engine protocols and stores; it is configured by name.
import type { Static, TSchema } from 'typebox';
import type { Slot } from '../core/exchange.ts';
import type { Refusal } from '../core/outcome.ts';
import type { StepPlacement } from '../core/route.ts';
import type { Step } from '../core/pipeline.ts';
import type { TextAnswer, TextChange } from '../domain/text-stages.ts';
import type { Clock } from './clock.ts';
import type { EngineProtocol } from './engine.ts';
import type { GatewayServices } from './gateway-services.ts';
import type { Admission, AdmissionRequest, CallerCheck, CheckedCaller, Resolution, Verdict } from './ledger.ts';
import type { Log } from './log.ts';
import type { ApiDocument, PluginRoute } from './plugin-route.ts';
import type { Store, StoreCreation } from './store.ts';
import type { WholeAccounts } from './whole-accounts.ts';

/** A code that a plugin adds. Callers match on codes, so one never changes its meaning. */
export interface PluginProblem {
  /** 400 to 599. */
  readonly status: number;
  /** A short phrase. */
  readonly title: string;
  /** Whether the same request may be retried later: sends `Retry-After: 5`. */
  readonly retry: boolean;
  /** One sentence for the error page on when it occurs. Defaults to the title. */
  readonly meaning?: string;
  /** For the error page: what the caller should do. */
  readonly advice?: string;
}

/** What a plugin receives at boot. `Codes` are the codes of its `problems`. */
export interface PluginHost<Codes extends string = never> {
  /** With one of the plugin's codes. `detail` is for people; `fields` are more members. */
  refuse(code: Codes, detail: string, fields?: Readonly<Record<string, string | number>>): Refusal;
  /** Reserves a typed slot on every exchange for what the plugin's steps pass to each other. */
  reserveSlot<T>(name: string): Slot<T>;
  /** Writes one line to the log. Never texts, keys or anything that an engine sent. */
  log(message: string, fields?: Readonly<Record<string, string | number | boolean>>): void;
  /** The same at level warn, for things an operator should look at. */
  warn(message: string, fields?: Readonly<Record<string, string | number | boolean>>): void;
}

/**
 * The configuration is validated against `options`, `setup` runs once, steps are placed, requests
 * are served, `close` comes last. Commands that inspect only run `setup` and `close`.
 */
export interface PluginDefinition<Options extends TSchema = TSchema, Codes extends string = never> {
  readonly name: string;
  /** Schema of the plugin's `options` in the configuration. */
  readonly options: Options;
  /** In lower case with underscores. Each gets an entry on the error page. */
  readonly problems?: Readonly<Record<Codes, PluginProblem>>;
  setup(options: Static<Options>, host: PluginHost<Codes>): PluginParts | Promise<PluginParts>;
}

/** `texts_total` of the plugin `memory` becomes `lingate_memory_texts_total`. */
export interface PluginMetric {
  /** A counter's name ends in `_total`. */
  readonly name: string;
  readonly help: string;
  readonly kind: 'counter' | 'gauge';
  /** The label that distinguishes the values, if `read` returns several. */
  readonly label?: string;
  /**
   * Called at each scrape. A counter's total since `setup`; those of processes are added up. With
   * `label`, an entry per label value, all from the start.
   */
  read(): number | Readonly<Record<string, number>>;
}

/** On the console's overview, summed over all processes: a number, or a share in percent. */
export type PluginFigure =
  | { readonly name: string; readonly count: number }
  | { readonly name: string; readonly part: number; readonly whole: number };

/** The figures of a plugin, with its name. */
export interface NamedFigures {
  readonly plugin: string;
  readonly figures: readonly PluginFigure[];
}

export interface PluginParts {
  readonly steps?: readonly StepPlacement[];
  /**
   * Changes the texts after the admission, and the translations on their way back, in reverse order
   * of plugins. The caller's own texts are charged. `answers` comes after `texts`.
   */
  readonly texts?: TextChange;
  /**
   * Answers texts in place of the engine, and learns its translations of others. It sees them as
   * changed by earlier stages.
   */
  readonly answers?: TextAnswer;
  readonly routes?: readonly PluginRoute[];
  /** The plugin's own steps, which its routes name; called once, when store and engine are open. */
  routeSteps?(services: GatewayServices): readonly Step[];
  /** Has the routes in a separate document, `/openapi/PLUGIN.json`, instead of `/openapi.json`. */
  readonly document?: ApiDocument;
  /** Engine protocols, keyed by the name used in `engine.protocol`. */
  readonly engines?: Readonly<Record<string, EngineProtocol>>;
  /** Stores, keyed by URL scheme: `mine` opens `store: mine:…`. */
  readonly stores?: Readonly<Record<string, OpenPluginStore>>;
  readonly metrics?: readonly PluginMetric[];
  /** Called whenever the console's overview is shown. */
  figures?(): readonly PluginFigure[];
  /**
   * Forgets a deleted team, or all teams. Called within seconds in every serving process, and in
   * `lingate memory clear`, which shows how many entries of a shared store were deleted.
   */
  forget?(teamId: string | undefined): number | undefined | Promise<number | undefined>;
  /** Called once after the gateway has drained. */
  close?(): void | Promise<void>;
}

/**
 * Rejects with a `StoreError` if it cannot be opened. The contract is in `lingate/testing`. With
 * `mayCreate` and `onCreated`, mistyped URLs are noticed.
 */
export type OpenPluginStore = (url: string, context: PluginStoreContext) => Promise<WholePluginStore>;

export interface PluginStoreContext extends StoreCreation {
  readonly log: Log;
  readonly clock: Clock;
  /** How long usage and audit entries are stored. */
  readonly historyDays: number;
}

/** A plugin's store. It goes by the given clock, which the gateway judges. */
export interface WholePluginStore extends WholeStoreParts {
  readonly ledger: PluginLedger;
}

/** The part of it that gateways use. */
export type PluginStore = Omit<WholePluginStore, 'accounts'>;

/** What stores of all kinds have, besides their ledgers and clocks. */
export interface WholeStoreParts extends Omit<Store, 'ledger' | 'clock'> {
  readonly accounts: WholeAccounts;
}

/** The ledger (ledger.ts) with returned answers or promises instead of callbacks. */
export interface PluginLedger {
  admit(request: AdmissionRequest): Admission | Promise<Admission>;
  /** `characters` as in `AskedResolution`. */
  resolve(teamId: string, requestId: string, verdict: Verdict, characters?: number): Resolution | Promise<Resolution>;
  check(check: CallerCheck): CheckedCaller | Promise<CheckedCaller>;
}
