// The OpenID provider of the console's sign-in, and records of sign-ins that processes share.
import type { SignInAttempt, ProviderRefusal } from '../domain/sign-in-attempt.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';

/** As configured, with its secret. */
export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Besides `openid`. */
  readonly scopes: readonly string[];
  readonly roles: { readonly manage: readonly string[]; readonly read: readonly string[] };
  /** The claim with a person's groups. */
  readonly groupsClaim: string;
  /** The claim with the name for the audit. */
  readonly nameClaim: string;
  /** The origin under which browsers reach the console. */
  readonly consoleUrl: string;
}

/** Someone of whom the provider has proven who they are. */
export interface ProvenPerson {
  readonly issuer: string;
  /** Unique and unchanging at its issuer. */
  readonly subject: string;
  /** For the audit: of `nameClaim`, or else the subject. */
  readonly name: string;
  readonly groups: readonly string[];
  /** A secret: names the session at the provider when it is ended. */
  readonly idToken: string;
}

/** Every call ends within seconds, whatever the provider does, and none rejects. */
export interface IdentityProvider {
  /** The provider's page to which a browser is sent. */
  authorizationUrl(attempt: SignInAttempt): Promise<string | ProviderRefusal>;
  /** Who has signed in, by the query of the browser's return. Its `state` is the attempt's. */
  identify(query: URLSearchParams, attempt: SignInAttempt): Promise<ProvenPerson | ProviderRefusal>;
  /** The provider's page that ends the session there, if it has one. Calls nobody. */
  signOutUrl(person: ProvenPerson): string | undefined;
}

/** Which attempts have come back, for all processes of a store. */
export interface SignInRecords {
  /** `false` if used before. Atomic; remembered for `keepMs` by the store's clock. */
  use(state: string, keepMs: number): Promise<boolean | StoreUnavailable>;
}

/** An attempt that begins, with what the browser keeps of it. */
export interface BegunAttempt {
  readonly attempt: SignInAttempt;
  /** For a cookie. */
  readonly stored: string;
}

/** Attempts to sign in: whichever process began one, every process of the store recognizes it. */
export interface SignInAttemptSource {
  begin(): Promise<BegunAttempt | StoreUnavailable>;
  /** The attempt that a browser has stored; `undefined` if it is none of ours or too old. */
  resume(stored: string): Promise<SignInAttempt | undefined | StoreUnavailable>;
  /** `false` if the attempt has been used before. */
  use(attempt: SignInAttempt): Promise<boolean | StoreUnavailable>;
}
