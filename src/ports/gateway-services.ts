// What the gateway does for the steps of plugin routes.
import type { Exchange } from '../core/exchange.ts';
import type { Refusal } from '../core/outcome.ts';
import type { Credential, CredentialReader } from '../domain/api-key.ts';
import type { EngineCapabilities, EngineGlossary, TranslationOptions, Want } from '../domain/translation-options.ts';
import type { Languages } from '../domain/languages.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { TranslateRequest } from '../domain/translate-request.ts';
import type { DocumentServices } from './document-services.ts';
import type { Translation } from './engine.ts';
import type { GlossaryStore } from './glossary-store.ts';
import type { TagHistory } from './tag-registry.ts';
import type { TeamRegistry } from './team-registry.ts';

/** What the gateway offers to the steps of plugin routes. */
export interface GatewayServices {
  /** Finds a request's key as `identify` does; the step lists `credentials.headers`. */
  readonly credentials: CredentialReader;
  /** What at least one engine can do: refuse all else. `refusalFor` decides for a request. */
  readonly engineCan: EngineCapabilities;
  /** `engine.timeout_ms`, the longest time of an attempt; with several engines the longest. */
  readonly engineTimeoutMs: number;
  /** Maximum body size in bytes. */
  readonly bodyBytesMax: number;
  /** The teams' glossaries, within their limits; dictionaries that were read are cached. */
  readonly glossaries: GlossaryStore;
  /** Several dictionaries as one: the first with a term wins. `undefined` if one is gone. */
  mergedGlossary(teamId: string, dictionaryIds: readonly string[]): Promise<EngineGlossary | undefined | StoreUnavailable>;
  readonly teams: Pick<TeamRegistry, 'findTeam' | 'usage'>;
  /** What teams have used by tag and day. */
  readonly tags: TagHistory;
  /**
   * For each request anew: the list can be reloaded. What the request's team can reach; without
   * one, or before the admission, what any plan can.
   */
  languages(x?: Exchange): Languages;
  /**
   * What one of the request's engines can do for a pair besides what it wants: the rest is refused
   * as if there were one engine that lacks it. Without a pair: of any that the team reaches.
   */
  engineCanFor(x: Exchange, sourceLang?: string, targetLang?: string, wants?: readonly Want[]): EngineCapabilities;
  /**
   * Why no eligible engine supports the whole request. Before setting the charge; `hasGlossary` if
   * the options do not contain the glossary yet.
   */
  refusalFor(x: Exchange, options: TranslationOptions, hasGlossary?: boolean): Refusal | undefined;
  /**
   * With the charge: judges the request again once the plan is known, if the offer depends on it.
   * `judge` stores its result or refuses, before quota and credit.
   */
  judgeAgain(x: Exchange, judge: () => Refusal | undefined): void;
  /** For a key found elsewhere: stores what `authenticate` needs, or returns its refusal. */
  identify(x: Exchange, credential: Credential): Refusal | undefined;
  /** An admitted request's: two attempts, counted and logged as of `POST /v1/translate`. */
  translate(x: Exchange, order: TranslationOrder): Promise<Translated | Refusal>;
  /** Of up to 50 texts by their beginnings; only if `engineCan.detection`. Free of charge. */
  detect(x: Exchange, texts: readonly string[]): Promise<Detected | Refusal>;
  /** Translates files in the background; `undefined` if documents are not configured. */
  readonly documents: DocumentServices | undefined;
  /**
   * The callers' address, without a slash at the end: `service.public_url`, or by `Host` and a
   * trusted proxy; empty without one. The step lists `host` and `x-forwarded-proto`.
   */
  addressFor(x: Exchange): string;
  /**
   * A plugin's own OpenAPI document. Each call renders it, so keep it; not before the first
   * request, as addresses are known once everything listens.
   */
  apiDocument(plugin: string): Readonly<Record<string, unknown>>;
  /** Generates a ULID. */
  newId(): string;
  /** A monotonic clock in milliseconds. */
  now(): number;
}

/**
 * `glossaryId` is the charge's glossary, whose dictionary the admission found. A step that supplies
 * entries itself omits it, and sets `options.glossary`.
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
  /** Per text; `undefined` if the engine cannot tell, or the language is not in our list. */
  readonly languages: readonly (string | undefined)[];
}
