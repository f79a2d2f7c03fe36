// What the gateway does for the steps of plugin routes.
import type { Exchange } from '../core/exchange.ts';
import type { Refusal } from '../core/outcome.ts';
import type { Credential, CredentialReader } from '../domain/api-key.ts';
import type { EngineCapabilities } from '../domain/engine-offer.ts';
import type { Want } from '../domain/engine-offer.ts';
import type { Languages } from '../domain/languages.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { TranslateRequest } from '../domain/translate-request.ts';
import type { EngineGlossary, TranslationOptions } from '../domain/translation-options.ts';
import type { DocumentServices } from './document-services.ts';
import type { Translation } from './engine.ts';
import type { GlossaryStore } from './glossary-store.ts';
import type { TagHistory } from './tag-history.ts';
import type { TeamRegistry } from './team-registry.ts';

/** What the gateway offers to the steps of plugin routes. */
export interface GatewayServices {
  /** Finds the key in a request's headers as `identify` does; a step that uses it lists `credentials.headers` as its own. */
  readonly credentials: CredentialReader;
  /** What at least one engine can do: refuse anything that none can. `refusalFor` decides for a specific request. */
  readonly engineCan: EngineCapabilities;
  /** `engine.timeout_ms`, the maximum duration of an attempt; the longest if there are several engines. */
  readonly engineTimeoutMs: number;
  /** Maximum body size in bytes. */
  readonly bodyBytesMax: number;
  /** The teams' glossaries, within their limits; dictionaries that were read are cached for a while. */
  readonly glossaries: GlossaryStore;
  /** Several dictionaries of a team merged into one: the first that has a term wins. `undefined` if one is gone. */
  mergedGlossary(teamId: string, dictionaryIds: readonly string[]): Promise<EngineGlossary | undefined | StoreUnavailable>;
  readonly teams: Pick<TeamRegistry, 'findTeam' | 'usage'>;
  /** What teams have used by tag and day. */
  readonly tags: TagHistory;
  /**
   * Call it for each request, because the list can be reloaded. With a request: what its team's plan can reach. Without one, or
   * before the admission: what any plan can.
   */
  languages(x?: Exchange): Languages;
  /**
   * What at least one of the engines for this request can do for an offered pair, besides what else it wants: whatever is missing
   * then is refused in the words of the route's own API, as if there were one engine that lacks it. Without a pair, what any
   * engine can do that the team can reach.
   */
  engineCanFor(x: Exchange, sourceLang?: string, targetLang?: string, wants?: readonly Want[]): EngineCapabilities;
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
  /** Translates files in the background; `undefined` if documents are not configured. */
  readonly documents: DocumentServices | undefined;
  /**
   * The address that callers use, without a slash at the end: `service.public_url` of the configuration, otherwise by the `Host` of the
   * request and what a trusted proxy says of TLS; empty without one. The step lists `host` and `x-forwarded-proto` in `headers`.
   */
  addressFor(x: Exchange): string;
  /**
   * The OpenAPI document of a plugin that has one of its own. Rendered by each call, so keep it; not before the first request,
   * because the addresses in it are only known once everything listens.
   */
  apiDocument(plugin: string): Readonly<Record<string, unknown>>;
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
  /** What is charged for each text, if not all of its characters: what the charge has for it. */
  readonly charged?: readonly number[] | undefined;
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
