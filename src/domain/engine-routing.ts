// Which engines a request may go to, and in which order: the rules of `routing`.

/** The name of the one engine that `engine:` describes. */
export const ONLY_ENGINE = 'default';

/** A rule of `routing`. The first that fits a request decides. */
export interface RoutingRule {
  /** Names of plans; `undefined`: of any. */
  readonly plans: readonly string[] | undefined;
  /** Pairs as written, `*` for any code; `undefined`: every pair. */
  readonly pairs: readonly string[] | undefined;
  /** Names of engines, in the order in which they are tried. */
  readonly engines: readonly string[];
}
