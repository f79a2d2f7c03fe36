// Operators of the admin API and the console: their names, what they may do, and their tokens.

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

/** Which groups of a provider have a role; whoever is in groups of both has `manage`. */
export interface GroupRoles {
  readonly issuer: string;
  readonly manage: readonly string[];
  readonly read: readonly string[];
}
