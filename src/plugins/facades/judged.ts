// The result of checking something that a caller has sent: a value, or a refusal.
import type { Refusal } from 'lingate';

/** What passed, or what is wrong. */
export type Judged<T> = { readonly sound: T } | Refusal;
