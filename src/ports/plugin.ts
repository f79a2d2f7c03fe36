// A plugin: a value that adds steps, routes, text changes, engine protocols and stores; named in the configuration, never
// discovered.
import type { Static, TSchema } from 'typebox';
import type { Exchange, Slot } from '../core/exchange.ts';
import type { Refusal } from '../core/outcome.ts';
import type { StepPlacement } from '../core/step-placement.ts';
import type { ProblemForm, ProblemKind } from '../core/problem.ts';
import type { Step } from '../core/step.ts';
import type { Credential, CredentialReader } from '../domain/api-key.ts';
import type { Languages } from '../domain/languages.ts';
import type { TranslateRequest } from '../domain/translate-request.ts';
import type { TextAnswer, TextChange } from '../domain/text-stages.ts';
import type { Clock } from './clock.ts';
import type { EngineCapabilities, EngineProtocol, Translation } from './engine.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { EngineGlossary, TranslationOptions } from '../domain/translation-options.ts';
import type { OfferedCapabilities } from '../domain/engine-offer.ts';
import type { GlossaryStore } from './glossary-store.ts';
import type { Admission, AdmissionRequest, CallerCheck, CheckedCaller, Resolution, Verdict } from './ledger.ts';
import type { Log } from './log.ts';
import type { Store, StoreCreation } from './store.ts';
import type { TeamRegistry } from './team-registry.ts';

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
export type OpenPluginStore = (url: string, context: { readonly log: Log; readonly clock: Clock } & StoreCreation) => Promise<PluginStore>;

/** A store as a plugin implements it. */
export interface PluginStore extends Omit<Store, 'ledger'> {
  readonly ledger: PluginLedger;
}

/**
 * The ledger (ledger.ts) with returned answers, immediate or as promises. The gateway converts them to callbacks when it opens
 * the store.
 */
export interface PluginLedger {
  admit(request: AdmissionRequest): Admission | Promise<Admission>;
  /** `characters` as in `AskedResolution`: only passed to a ledger that `chargesParts`. */
  resolve(teamId: string, requestId: string, verdict: Verdict, characters?: number): Resolution | Promise<Resolution>;
  check?(check: CallerCheck): CheckedCaller | Promise<CheckedCaller>;
  readonly chargesParts?: boolean;
}

/** A route of a plugin. Its path must not be answered by a built-in route or another plugin. */
export interface PluginRoute {
  readonly method: string;
  /**
   * Literal segments, at most one of them a parameter written `{name}`. A trailing `/*` matches everything below that no other
   * route answers.
   */
  readonly path: string;
  /** Whether the steps read the body. If not, the whole chain starts as soon as the head has arrived. */
  readonly takesBody: boolean;
  /**
   * Names of steps in order: built-in ones (`access-log`, which comes first, `shed`, `identify`, `authenticate`, `team-shed`,
   * `admit`), and those that `routeSteps` creates.
   */
  readonly steps: readonly string[];
  /** The format of its problems; by default problem documents. */
  readonly problemForm?: ProblemForm;
  /** Its entry in the API reference. */
  readonly doc?: RouteDoc;
  /** Omits the route from the reference: for routes that only refuse. */
  readonly undocumented?: true;
  /** The option, such as `root: false`, that makes this plugin give up the path to another plugin that also claims it. */
  readonly whenTaken?: string;
}

/** The plugin's own OpenAPI document, apart from its routes. */
export interface ApiDocument {
  readonly title: string;
  /** Version of the API that the routes implement. */
  readonly version: string;
  /** One sentence. */
  readonly summary: string;
  readonly description: string;
  /** Section headings for routes with a description of each; a route's `tag` names one. */
  readonly tags?: Readonly<Record<string, string>>;
  /** Schema of error bodies; by default problem documents. */
  readonly failure?: TSchema;
  /** Headers that the plugin sets on every answer. */
  readonly headers?: DocHeaders;
  /** An additional header in which a key may be sent. */
  readonly keyField?: string;
}

/** Response headers by name. */
export type DocHeaders = Readonly<Record<string, { readonly description: string; readonly example: string }>>;

/** The plugins' routes, documents and problem codes, for the API reference. */
export interface PluginApis {
  readonly routes: readonly LoadedRoute[];
  /** By plugin name, for plugins with their own document. */
  readonly documents: ReadonlyMap<string, ApiDocument>;
  /** The plugins' own problem codes. */
  readonly problems: ReadonlyMap<string, LoadedProblem>;
}

/** A plugin's problem code as loaded by the gateway. */
export interface LoadedProblem {
  /** Name of the plugin. */
  readonly plugin: string;
  readonly kind: ProblemKind;
  readonly advice: string | undefined;
}

/** A route as loaded by the gateway. */
export interface LoadedRoute extends PluginRoute {
  /** Name of the plugin. */
  readonly plugin: string;
}

export interface RouteDoc {
  /** A short phrase, used as a title. */
  readonly summary: string;
  readonly description: string;
  /** Whether a key is needed. */
  readonly authenticated: boolean;
  /** One of the document's tags; by default one tag for all of the plugin's routes. */
  readonly tag?: string;
  /** The path parameter, if there is one. */
  readonly parameter?: { readonly description: string; readonly example: string };
  readonly query?: readonly {
    readonly name: string;
    readonly description: string;
    readonly schema: TSchema;
    readonly required?: boolean;
    readonly example?: unknown;
  }[];
  /** Defaults to `['application/json']`. */
  readonly body?: DocExamples & {
    readonly description: string;
    readonly schema: TSchema;
    readonly contentTypes?: readonly string[];
    /** Whether the body may be omitted. */
    readonly optional?: boolean;
  };
  readonly answer: DocExamples & {
    readonly status: number;
    readonly description: string;
    /** Absent for an answer without a body. */
    readonly schema?: TSchema;
    readonly contentType?: string;
    /** Headers beyond those of every answer; only in a plugin's own document. */
    readonly headers?: DocHeaders;
  };
  /** Statuses of its failures, as the route reports them, and when they occur. */
  readonly failures?: Readonly<Record<number, string>>;
  /**
   * Problem codes that the route can return, in addition to those of every route and of every authenticated route. Used in a
   * plugin's own document, which lists them, including the plugin's own codes, under the statuses that `problemForm` assigns,
   * each with an example.
   */
  readonly problems?: readonly string[];
}

export interface DocExamples {
  /** The example that pages show. */
  readonly example?: unknown;
  /** More examples, keyed by a short name; only in a plugin's own document. */
  readonly examples?: Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;
}

/** What the gateway offers to the steps of plugin routes. */
export interface GatewayServices {
  /** Finds the key in a request's headers as `identify` does; a step that uses it lists `credentials.headers` as its own. */
  readonly credentials: CredentialReader;
  /** What at least one engine can do: refuse anything that none can. `refusalFor` decides for a specific request. */
  readonly engineCan: EngineCapabilities;
  /** `engine.timeout_ms`, the maximum duration of an attempt; the longest if there are several engines. */
  readonly engineTimeoutMs: number;
  /** Whether `spareCharacters` has an effect, because the store can charge part of a reservation. */
  readonly canSpareCharacters: boolean;
  /** Maximum body size in bytes. */
  readonly bodyBytesMax: number;
  /** The teams' glossaries, within their limits; dictionaries that were read are cached for a while. */
  readonly glossaries: GlossaryStore;
  /** Several dictionaries of a team merged into one: the first that has a term wins. `undefined` if one is gone. */
  mergedGlossary(teamId: string, dictionaryIds: readonly string[]): Promise<EngineGlossary | undefined | StoreUnavailable>;
  readonly teams: Pick<TeamRegistry, 'findTeam' | 'usage'>;
  /**
   * Call it for each request, because the list can be reloaded. With a request: what its team's plan can reach. Without one, or
   * before the admission: what any plan can.
   */
  languages(x?: Exchange): Languages;
  /** What at least one of the engines for this request can do for an offered pair. */
  engineCanFor(x: Exchange, sourceLang: string | undefined, targetLang: string): OfferedCapabilities;
  /**
   * Why no eligible engine supports everything that the request asks for; `undefined` if one does. Call it before setting the
   * charge. Pass `hasGlossary` if the options do not contain the glossary yet.
   */
  refusalFor(x: Exchange, options: TranslationOptions, hasGlossary?: boolean): Refusal | undefined;
  /**
   * Call it when setting the charge: judges the request again after the admission, once the plan is known, if what is offered
   * depends on the plan. `judge` stores its result or refuses the request, before quota and credit are checked.
   */
  judgeAgain(x: Exchange, judge: () => Refusal | undefined): void;
  /** For a key found where `identify` does not look: stores what `authenticate` needs, or returns why the key is refused. */
  identify(x: Exchange, credential: Credential): Refusal | undefined;
  /** Translates an admitted request: two attempts, counted and logged like those of `POST /v1/translate`. */
  translate(x: Exchange, order: TranslationOrder): Promise<Translated | Refusal>;
  /** Detects the language of up to 50 texts from their beginnings; only if `engineCan.detection`. Free of charge for the caller. */
  detect(x: Exchange, texts: readonly string[]): Promise<Detected | Refusal>;
  /** Generates a ULID. */
  newId(): string;
  /** A monotonic clock in milliseconds. */
  now(): number;
}

/**
 * `glossaryId` names the glossary in the charge: the dictionary that the admission found in it is used, and cached. A step that
 * supplies the entries itself omits it and puts them into `options.glossary`.
 */
export interface TranslationOrder extends Pick<TranslateRequest, 'text' | 'options' | 'glossaryId'> {
  /** For each of the two attempts, if less than `engine.timeout_ms`. */
  readonly attemptMs?: number;
}

export interface Translated {
  readonly kind: 'translated';
  /** One per text, in order; a detected language is one of the source codes. */
  readonly translations: readonly Translation[];
}

export interface Detected {
  readonly kind: 'detected';
  /** A source code per text; `undefined` if the engine cannot tell or detects a language that we do not list. */
  readonly languages: readonly (string | undefined)[];
}
