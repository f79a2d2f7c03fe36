// A plugin: a value that adds steps, routes, text changes, engine protocols and stores; named in the configuration, never
// discovered.
import type { Static, TSchema } from 'typebox';
import type { Slot } from '../core/exchange.ts';
import type { Refusal } from '../core/outcome.ts';
import type { StepPlacement } from '../core/route.ts';
import type { Step } from '../core/step.ts';
import type { TextAnswer, TextChange } from '../domain/text-stages.ts';
import type { Clock } from './clock.ts';
import type { EngineProtocol } from './engine.ts';
import type { GatewayServices } from './gateway-services.ts';
import type { Admission, AdmissionRequest, CallerCheck, CheckedCaller, Resolution, Verdict } from './ledger.ts';
import type { Log } from './log.ts';
import type { ApiDocument, PluginRoute } from './plugin-route.ts';
import type { Store, StoreCreation } from './store.ts';
import type { WholeAccounts } from './whole-accounts.ts';

/** A problem code that a plugin adds. Callers match on codes, so one must never change its meaning. */
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
  /** A refusal with one of the plugin's own problem codes. `detail` is for people; `fields` are additional members of the document. */
  refuse(code: Codes, detail: string, fields?: Readonly<Record<string, string | number>>): Refusal;
  /** Reserves a typed slot on every exchange for data that the plugin's steps pass to each other. */
  reserveSlot<T>(name: string): Slot<T>;
  /** Writes one line to the gateway's log. Never pass texts, keys or anything that an engine sent. */
  log(message: string, fields?: Readonly<Record<string, string | number | boolean>>): void;
  /** The same at level warn, for things an operator should look at. */
  warn(message: string, fields?: Readonly<Record<string, string | number | boolean>>): void;
}

/**
 * A plugin's lifecycle: the configuration is validated against `options`; `setup` runs once at boot and may be asynchronous;
 * the steps are placed and the chains are fixed; requests are served; `close` is called after the last one. Commands that only
 * inspect (`lingate routes`, `lingate openapi`) run `setup` and `close` and nothing in between.
 */
export interface PluginDefinition<Options extends TSchema = TSchema, Codes extends string = never> {
  readonly name: string;
  /** Schema of the plugin's `options` in the configuration. */
  readonly options: Options;
  /** The plugin's own problem codes, in lower case with underscores. Each gets an entry on the error page. */
  readonly problems?: Readonly<Record<Codes, PluginProblem>>;
  setup(options: Static<Options>, host: PluginHost<Codes>): PluginParts | Promise<PluginParts>;
}

/** A metric of the plugin: `texts_total` of the plugin `memory` becomes `lingate_memory_texts_total`. */
export interface PluginMetric {
  /** A counter's name ends in `_total`. */
  readonly name: string;
  readonly help: string;
  readonly kind: 'counter' | 'gauge';
  /** The label that distinguishes the values, if `read` returns several. */
  readonly label?: string;
  /**
   * Called at each scrape. A counter returns the total since the plugin was set up; the values of several processes are added
   * up. With `label`, returns one entry per label value, all of them from the start.
   */
  read(): number | Readonly<Record<string, number>>;
}

/** A figure of the plugin on the console's overview, summed over all processes: a number, or a share shown as a percentage. */
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
   * Changes the texts of a translation after the admission and before the engine, and the translations on their way back. The
   * caller's original texts are what is charged. Several plugins are called in the order of the configuration, and on the way
   * back in reverse; `answers` of the same plugin comes after its `texts`.
   */
  readonly texts?: TextChange;
  /**
   * Answers texts in place of the engine, and learns the engine's translations of the others. It sees the texts as changed by
   * the stages before it.
   */
  readonly answers?: TextAnswer;
  readonly routes?: readonly PluginRoute[];
  /** The plugin's own steps, which its routes name; called once, when store and engine are open. */
  routeSteps?(services: GatewayServices): readonly Step[];
  /** Describes the routes in a separate document, `/openapi/PLUGIN.json`; without it they appear in `/openapi.json`. */
  readonly document?: ApiDocument;
  /** Engine protocols, keyed by the name used in `engine.protocol`. */
  readonly engines?: Readonly<Record<string, EngineProtocol>>;
  /** Stores, keyed by URL scheme: `mine` opens `store: mine:…`. */
  readonly stores?: Readonly<Record<string, OpenPluginStore>>;
  readonly metrics?: readonly PluginMetric[];
  /** Called whenever the console's overview is shown. */
  figures?(): readonly PluginFigure[];
  /**
   * Forgets what is cached for a team, or for all teams if none is named: after a team was deleted, and for `lingate memory
   * clear`. Called within seconds in every serving process, and in the command, which shows the return value: the number of
   * entries deleted from a shared store, or `undefined` if there is none.
   */
  forget?(teamId: string | undefined): number | undefined | Promise<number | undefined>;
  /** Called once after the gateway has drained. */
  close?(): void | Promise<void>;
}

/**
 * Rejects with a `StoreError` if it cannot be opened. The contract is in `lingate/testing`. A store that honours `mayCreate`
 * and `onCreated` catches mistyped URLs for operators; one that does not is opened all the same.
 */
export type OpenPluginStore = (url: string, context: PluginStoreContext) => Promise<WholePluginStore>;

export interface PluginStoreContext extends StoreCreation {
  readonly log: Log;
  readonly clock: Clock;
  /** How long usage and audit entries are stored. */
  readonly historyDays: number;
}

/** A store as a plugin implements it. It goes by the clock that it is given, which the gateway judges, over the record space as well. */
export interface WholePluginStore extends PluginStore {
  readonly accounts: WholeAccounts;
}

/** The part of it that gateways use. */
export interface PluginStore extends Omit<Store, 'ledger' | 'clock'> {
  readonly ledger: PluginLedger;
}

/**
 * The ledger (ledger.ts) with returned answers, immediate or as promises. The gateway converts them to callbacks when it opens
 * the store.
 */
export interface PluginLedger {
  admit(request: AdmissionRequest): Admission | Promise<Admission>;
  /** `characters` as in `AskedResolution`. */
  resolve(teamId: string, requestId: string, verdict: Verdict, characters?: number): Resolution | Promise<Resolution>;
  check(check: CallerCheck): CheckedCaller | Promise<CheckedCaller>;
}
