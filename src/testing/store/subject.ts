// What the parts of the store contract work on.
import type { Store } from '../../ports/store.ts';
import type { MovableClock } from '../movable-clock.ts';

export interface Subject {
  store: Store;
  /** A second instance on the same backing. */
  again: Store;
  readonly clock: MovableClock;
}
