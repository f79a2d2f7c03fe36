// A route of a plugin, its entry in the reference, and all plugins' routes as loaded.
import type { TSchema } from 'typebox';
import type { ProblemKind } from '../core/problem.ts';
import type { RouteRow } from '../core/route.ts';
import type { Scope } from '../domain/scopes.ts';

/** A route of a plugin. Its path must not be answered by a built-in route or another plugin. */
export interface PluginRoute extends Omit<RouteRow, 'streamsBody' | 'scope'> {
  /**
   * Literal segments, each with at most one parameter `{name}`; `pathParameter` has the first. A
   * trailing `/*` matches everything below that no other route answers.
   */
  readonly path: string;
  /** Instead of `takesBody`: a step of `services.documents` reads an upload. */
  readonly upload?: true;
  /** Omits the route from the reference of a gateway without documents, where its steps refuse. */
  readonly ofDocuments?: true;
  /**
   * In order: built-in ones (`access-log`, which comes first, `shed`, `identify`, `authenticate`,
   * `team-shed`, `admit`), and those of `routeSteps`.
   */
  readonly steps: readonly string[];
  /** It opens the route to keys with scopes; without one none does. Only with `admit`. */
  readonly scope?: Scope;
  /** Its entry in the API reference. */
  readonly doc?: RouteDoc;
  /** Omits the route from the reference: for routes that only refuse. */
  readonly undocumented?: true;
  /** The option, such as `root: false`, by which this plugin gives up a path claimed twice. */
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
  readonly plugin: string;
  readonly kind: ProblemKind;
}

/** A route as loaded by the gateway. */
export interface LoadedRoute extends PluginRoute {
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
  /** The path parameter, if there is one; of several the first. */
  readonly parameter?: { readonly description: string; readonly example: string };
  /** The others of several, in their order. */
  readonly moreParameters?: readonly { readonly description: string; readonly example: string }[];
  readonly query?: readonly {
    readonly name: string;
    readonly description: string;
    readonly schema: TSchema;
    readonly required?: boolean;
    readonly example?: unknown;
    /** Instead of `example`: values that belong to the body's examples of the same name. */
    readonly examples?: NonNullable<DocExamples['examples']>;
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
   * Codes besides those of every (authenticated) route: a plugin's own document lists them, with
   * examples, under the statuses that `problemForm` assigns.
   */
  readonly problems?: readonly string[];
}

export interface DocExamples {
  /** The example that pages show; without it they show each of `examples`, if there are several. */
  readonly example?: unknown;
  /** More examples, keyed by a short name. */
  readonly examples?: Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;
}
