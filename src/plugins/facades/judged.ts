// What a judgement of something that a caller has sent comes to.
import type { Refusal } from 'lingate';

/** What passed, or what is wrong. */
export type Judged<T> = { readonly sound: T } | Refusal;
