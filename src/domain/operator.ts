// Operators of the admin API and the console: their names, what they may do, their tokens, and how
// they sign in at a provider.

/** `read` sees everything and changes nothing. */
export type OperatorRole = 'manage' | 'read';

export interface Operator {
  readonly name: string;
  readonly role: OperatorRole;
}

export interface OperatorToken extends Operator {
  /** A secret. */
  readonly token: string;
}

/** The name of the operator behind `admin.token`. */
export const ADMIN_OPERATOR = 'admin';

/** The form of an operator's name, which appears in the audit and in the log. */
export const OPERATOR_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$/;

/** The OpenID provider as configured, with its secret. */
export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Besides `openid`. */
  readonly scopes: readonly string[];
  /** Which groups have a role; whoever is in groups of both has `manage`. */
  readonly roles: Readonly<Record<OperatorRole, readonly string[]>>;
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
  /** The provider's page that ends the session there, if it has one. Contains a secret. */
  readonly signOutUrl?: string | undefined;
}

/** Why a sign-in is refused; in the audit, as they are. */
export type SignInRefusal =
  | 'provider_away'
  /** The person, or the provider for them, has declined. */
  | 'declined'
  /** The answer names another issuer. */
  | 'wrong_issuer'
  /** The code is unknown, used or expired. */
  | 'wrong_code'
  /** The provider does not accept `client_id` or `client_secret`. */
  | 'wrong_client'
  /** The provider's own error, or an answer that is against the standard. */
  | 'provider_error'
  /** The ID token fails a check. */
  | 'wrong_id_token'
  /** There is no claim with groups. */
  | 'no_claim'
  /** In none of the groups with a role. */
  | 'no_group'
  /** No attempt of this browser that is at most ten minutes old. */
  | 'wrong_state'
  /** The attempt has come back before. */
  | 'used_before'
  | 'store_away'
  /** Not a token of the configuration. */
  | 'wrong_token';
