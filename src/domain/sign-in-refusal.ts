// Why a sign-in is refused: the words of the audit, and those that only a provider's answer can bring about.

/** In the audit, as they are. */
export type SignInRefusal =
  | ProviderRefusal['refused']
  /** Not a token of the configuration. */
  | 'wrong_token'
  /** No attempt of this browser that is at most ten minutes old. */
  | 'wrong_state'
  /** The attempt has come back before. */
  | 'used_before'
  /** In none of the groups with a role. */
  | 'no_group'
  | 'store_away';

export interface ProviderRefusal {
  readonly refused:
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
    | 'no_claim';
  /** For the log: words of ours, or of the standard. */
  readonly detail: string;
}
