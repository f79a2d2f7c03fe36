// The fixture of the store contract.
import type { PluginStore } from '../../ports/plugin.ts';
import type { MovableClock } from '../movable-clock.ts';

export interface Subject {
  store: PluginStore;
  /** A second instance on the same backing. */
  again: PluginStore;
  readonly clock: MovableClock;
}
