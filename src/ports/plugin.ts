// A plugin: a value that adds steps, routes, what changes texts, engine protocols and stores; listed in the configuration, never found by scan.
import type { Static, TSchema } from 'typebox';
import type { Exchange, Slot } from '../core/exchange.ts';
import type { Refusal } from '../core/outcome.ts';
import type { StepPlacement } from '../core/step-placement.ts';
import type { ProblemForm, ProblemKind } from '../core/problem.ts';
import type { Step } from '../core/step.ts';
import type { Credential, CredentialReader } from '../domain/credentials.ts';
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
  /** A few words. */
  readonly title: string;
  /** Whether the same request may be sent again later: sends `Retry-After: 5`. */
  readonly retry: boolean;
  /** One sentence for the error page: when it happens. Without it, the title. */
  readonly meaning?: string;
  /** For the error page: what the caller is to do. */
  readonly advice?: string;
}

/** What a plugin is given at boot. `Codes` are those of its `problems`. */
export interface PluginHost<Codes extends string = never> {
  /** A refusal with one of the plugin's own problem codes. `detail` is for people; `fields` are further members of the document. */
  refuse(code: Codes, detail: string, fields?: Readonly<Record<string, string | number>>): Refusal;
  /** Reserves a typed place on every exchange for what the plugin's steps hand to each other. */
  reserveSlot<T>(name: string): Slot<T>;
  /** Writes one line to the gateway's log. Never pass texts, keys or anything an engine said. */
  log(message: string, fields?: Readonly<Record<string, string | number | boolean>>): void;
  /** The same for what an operator should look at. */
  warn(message: string, fields?: Readonly<Record<string, string | number | boolean>>): void;
}

/**
 * A plugin's life: the configuration is validated against `options`, `setup` runs once at boot (it may wait), its steps
 * are placed and the chains are fixed, requests run, and `close` is called after the last of them. Commands that only look
 * (`lingate routes`, `lingate openapi`) run `setup` and `close` and nothing between.
 */
export interface PluginDefinition<Options extends TSchema = TSchema, Codes extends string = never> {
  readonly name: string;
  /** Schema of the plugin's `options` in the configuration. */
  readonly options: Options;
  /** Problem codes of the plugin's own, in lower case with underscores: each has its place on the error page. */
  readonly problems?: Readonly<Record<Codes, PluginProblem>>;
  setup(options: Static<Options>, host: PluginHost<Codes>): PluginParts | Promise<PluginParts>;
}

/** A metric of a plugin's own: `texts_total` of the plugin `memory` is `lingate_memory_texts_total`. */
export interface PluginMetric {
  /** Of a counter it ends in `_total`. */
  readonly name: string;
  readonly help: string;
  readonly kind: 'counter' | 'gauge';
  /** Where `read` gives several values: what they differ in. */
  readonly label?: string;
  /**
   * Called at each scrape. Of a counter, how many there have been since the plugin was set up; several processes are added up.
   * With `label` a value for each of its values, all of them from the start.
   */
  read(): number | Readonly<Record<string, number>>;
}

/** What the console's overview shows of a plugin, added up over all processes: a number, or a part of a whole as a percentage. */
export type PluginFigure =
  | { readonly name: string; readonly count: number }
  | { readonly name: string; readonly part: number; readonly whole: number };

/** The figures of a plugin, by its name. */
export interface NamedFigures {
  readonly plugin: string;
  readonly figures: readonly PluginFigure[];
}

export interface PluginParts {
  readonly steps?: readonly StepPlacement[];
  /**
   * Changes the texts of a translation behind the admission and in front of the engine, and the translations on their way back.
   * What is charged are the caller's texts. Those of several plugins are called in the order of the configuration, and on the
   * way back in reverse; `answers` of the same plugin comes behind it.
   */
  readonly texts?: TextChange;
  /** Answers texts in place of the engine, and learns what that made of the others. What is in front of it has changed the texts. */
  readonly answers?: TextAnswer;
  readonly routes?: readonly PluginRoute[];
  /** The plugin's own steps that its routes name; asked for once, when store and engine are open. */
  routeSteps?(services: GatewayServices): readonly Step[];
  /** Describes the routes in a document of their own, `/openapi/PLUGIN.json`; without it they stand in `/openapi.json`. */
  readonly document?: ApiDocument;
  /** Engine protocols by the name that `engine.protocol` uses. */
  readonly engines?: Readonly<Record<string, EngineProtocol>>;
  /** Stores by the scheme of the URLs that name them: `mine` opens `store: mine:…`. */
  readonly stores?: Readonly<Record<string, OpenPluginStore>>;
  readonly metrics?: readonly PluginMetric[];
  /** Called whenever somebody looks at the console's overview. */
  figures?(): readonly PluginFigure[];
  /**
   * Drops what is remembered of a team, or of all teams where none is named: when a team was deleted, and for `lingate memory
   * clear`. Called in every process that serves, within seconds, and in the command, where what it returns is shown: how many
   * entries it has deleted from something that processes share, `undefined` where there is no such thing.
   */
  forget?(teamId: string | undefined): number | undefined | Promise<number | undefined>;
  /** Called once when the gateway has drained. */
  close?(): void | Promise<void>;
}

/**
 * Rejects with a `StoreError` when it cannot be opened. The contract is in `lingate/testing`. A store that heeds `mayCreate`
 * and `onCreated` spares operators a forgotten URL; one that does not is opened all the same.
 */
export type OpenPluginStore = (url: string, context: { readonly log: Log; readonly clock: Clock } & StoreCreation) => Promise<PluginStore>;

/** A store as its author writes it. */
export interface PluginStore extends Omit<Store, 'ledger'> {
  readonly ledger: PluginLedger;
}

/** The ledger (ledger.ts) with answers that are returned, at once or as promises. The gateway makes callbacks of them when it opens the store. */
export interface PluginLedger {
  admit(request: AdmissionRequest): Admission | Promise<Admission>;
  /** `characters` as in `AskedResolution`: only given to a ledger that `chargesParts`. */
  resolve(teamId: string, requestId: string, verdict: Verdict, characters?: number): Resolution | Promise<Resolution>;
  check?(check: CallerCheck): CheckedCaller | Promise<CheckedCaller>;
  readonly chargesParts?: boolean;
}

/** A route of a plugin's own. Its path may not be one that a route of ours, or of another plugin, answers. */
export interface PluginRoute {
  readonly method: string;
  /** Literal segments, at most one of which is a parameter written `{name}`; with `/*` at its end, all below that no other route answers. */
  readonly path: string;
  /** Whether the steps look at the body; a route that does not starts its whole chain at once. */
  readonly takesBody: boolean;
  /**
   * Names of steps in order: ours (`access-log`, which comes first, `shed`, `identify`, `authenticate`, `team-shed`,
   * `admit`), and those that `routeSteps` makes.
   */
  readonly steps: readonly string[];
  /** How its problems are answered; without it as problem documents. */
  readonly problemForm?: ProblemForm;
  /** What the API reference says of it. */
  readonly doc?: RouteDoc;
  /** Leaves the route out of the reference: for routes that only refuse. */
  readonly undocumented?: true;
  /** The option by which the plugin leaves the path to another plugin that has it too, such as `root: false`. */
  readonly whenTaken?: string;
}

/** What an OpenAPI document of a plugin's own says beside its routes. */
export interface ApiDocument {
  readonly title: string;
  /** Of the API that the routes speak. */
  readonly version: string;
  /** One sentence. */
  readonly summary: string;
  readonly description: string;
  /** Headings by which routes are grouped, and what each is about; a route's `tag` names one. */
  readonly tags?: Readonly<Record<string, string>>;
  /** What the bodies of failures look like; without it, problem documents. */
  readonly failure?: TSchema;
  /** Fields that every answer has because the plugin sets them. */
  readonly headers?: DocHeaders;
  /** A field of its own in which a key may be sent, too. */
  readonly keyField?: string;
}

/** Response fields by their names. */
export type DocHeaders = Readonly<Record<string, { readonly description: string; readonly example: string }>>;

/** What plugins say of their routes. */
export interface PluginApis {
  readonly routes: readonly LoadedRoute[];
  /** By the plugin's name; of those that have a document of their own. */
  readonly documents: ReadonlyMap<string, ApiDocument>;
  /** Plugins' own problem codes. */
  readonly problems: ReadonlyMap<string, LoadedProblem>;
}

/** A plugin's own problem code as the gateway knows it. */
export interface LoadedProblem {
  /** Name of the plugin. */
  readonly plugin: string;
  readonly kind: ProblemKind;
  readonly advice: string | undefined;
}

/** A route as the gateway knows it. */
export interface LoadedRoute extends PluginRoute {
  /** Name of the plugin. */
  readonly plugin: string;
}

export interface RouteDoc {
  /** A few words, as a title. */
  readonly summary: string;
  readonly description: string;
  /** Whether a key is needed. */
  readonly authenticated: boolean;
  /** One of the plugin's document; without it there is one for all of its routes. */
  readonly tag?: string;
  /** Of the path's parameter, if it has one. */
  readonly parameter?: { readonly description: string; readonly example: string };
  readonly query?: readonly {
    readonly name: string;
    readonly description: string;
    readonly schema: TSchema;
    readonly required?: boolean;
    readonly example?: unknown;
  }[];
  /** `contentTypes` is `['application/json']` without one. */
  readonly body?: DocExamples & {
    readonly description: string;
    readonly schema: TSchema;
    readonly contentTypes?: readonly string[];
    /** Whether a request may come without one. */
    readonly optional?: boolean;
  };
  readonly answer: DocExamples & {
    readonly status: number;
    readonly description: string;
    /** Left out for an answer without a body. */
    readonly schema?: TSchema;
    readonly contentType?: string;
    /** Fields beyond those of every answer; in a document of the plugin's own. */
    readonly headers?: DocHeaders;
  };
  /** What it can fail with: the status as the route tells it, and when. */
  readonly failures?: Readonly<Record<number, string>>;
  /**
   * The codes of problems that it can end in, beside those of every route and of every route that needs a key: a document
   * of the plugin's own lists them, the plugin's own codes among them, under the statuses of `problemForm`, each with an example in its words.
   */
  readonly problems?: readonly string[];
}

export interface DocExamples {
  /** The one that pages show. */
  readonly example?: unknown;
  /** More of them, by a word for what each shows; in a document of the plugin's own. */
  readonly examples?: Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;
}

/** What a gateway does for the steps of plugins' routes. */
export interface GatewayServices {
  /** Finds a key in a request's fields as `identify` does; a step that uses it lists `credentials.headers` as its own. */
  readonly credentials: CredentialReader;
  /** What the engine can do, of several at least one: what none can is to be refused. `refusalFor` knows of each request. */
  readonly engineCan: EngineCapabilities;
  /** `engine.timeout_ms`, of several engines the longest: how long an attempt may take. */
  readonly engineTimeoutMs: number;
  /** Whether `spareCharacters` has an effect: the store can charge a part of what was reserved. */
  readonly canSpareCharacters: boolean;
  /** Longest body that is taken, in bytes. */
  readonly bodyBytesMax: number;
  /** The team's glossaries, under its limits; dictionaries that were read are kept for a while. */
  readonly glossaries: GlossaryStore;
  /** Several dictionaries of a team as one: the first of them that has a term decides. `undefined` where one is gone. */
  mergedGlossary(teamId: string, dictionaryIds: readonly string[]): Promise<EngineGlossary | undefined | StoreUnavailable>;
  readonly teams: Pick<TeamRegistry, 'findTeam' | 'usage'>;
  /**
   * Asked anew for each request: an operator may put another list in place. With a request, what its team's plan can reach;
   * without, or before the admission, what any can.
   */
  languages(x?: Exchange): Languages;
  /** What can be had for a pair that is offered, by at least one of the engines that a request for it may go to. */
  engineCanFor(x: Exchange, sourceLang: string | undefined, targetLang: string): OfferedCapabilities;
  /**
   * Why none of the engines that it may go to does all that a request asks for; `undefined` where one does. To be asked before
   * the charge is left. `hasGlossary` where the options do not have it yet.
   */
  refusalFor(x: Exchange, options: TranslationOptions, hasGlossary?: boolean): Refusal | undefined;
  /**
   * To be called when the charge is left: has the request judged again behind the admission, where what is offered depends on
   * the plan, which is known then. `judge` leaves what it makes of the request, or refuses it: before quota and credit.
   */
  judgeAgain(x: Exchange, judge: () => Refusal | undefined): void;
  /** For a key that was found elsewhere than `identify` looks: leaves what `authenticate` needs, or says why it is refused. */
  identify(x: Exchange, credential: Credential): Refusal | undefined;
  /** Has an admitted request translated: two attempts, counted and logged like those of `POST /v1/translate`. */
  translate(x: Exchange, order: TranslationOrder): Promise<Translated | Refusal>;
  /**
   * Has the engine tell what language each of up to 50 texts is in, by its beginning; only where `engineCan.detection`. It costs
   * the caller nothing.
   */
  detect(x: Exchange, texts: readonly string[]): Promise<Detected | Refusal>;
  /** Draws a ULID. */
  newId(): string;
  /** A monotonic clock in milliseconds. */
  now(): number;
}

/**
 * `glossaryId` names the glossary of the charge: the dictionary that the admission found in it is used, and cached. A step
 * that has the entries itself leaves it out and puts them into `options.glossary`.
 */
export interface TranslationOrder extends Pick<TranslateRequest, 'text' | 'options' | 'glossaryId'> {
  /** For each of the two attempts, where that is less than `engine.timeout_ms`. */
  readonly attemptMs?: number;
}

export interface Translated {
  readonly kind: 'translated';
  /** As many as there were texts, in their order; a detected language is one of the source codes. */
  readonly translations: readonly Translation[];
}

export interface Detected {
  readonly kind: 'detected';
  /** For each text a source code; `undefined` where the engine cannot tell, or knows one that is none of ours. */
  readonly languages: readonly (string | undefined)[];
}
