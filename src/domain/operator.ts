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

/** What `admin.token` is called. */
export const ADMIN_OPERATOR = 'admin';

/** What an operator may be called: it stands in the audit and in the log. */
export const OPERATOR_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$/;
