// One tag with settings as a checker tracks it, from the store's answers alone: what is used of them since it has some.
import type { TagSettings } from '../../../src/domain/tag-settings.ts';
import { WindowCheck } from '../../support/model/window-check.ts';
import type { Reserved } from '../../support/model/window-check.ts';
import type { Place } from './entries.ts';

export class TagCheck {
  settings: TagSettings;
  /** Windows that are going count on while the tag has no limits by minute to month. */
  readonly windows = new WindowCheck('always');
  /** Slots taken while the tag had a rate. */
  readonly places: Place[] = [];
  readonly #chargedBefore: number;
  readonly #reserved: Reserved[] = [];

  /** `chargedBefore`: in the running period, to requests with the tag. */
  constructor(settings: TagSettings, chargedBefore: number) {
    this.settings = settings;
    this.#chargedBefore = chargedBefore;
  }

  taken(place: Place): void {
    if (this.settings.requestsPerSecond !== undefined) this.places.push(place);
  }

  hold(reserved: Reserved): void {
    this.#reserved.push(reserved);
  }

  /** Characters of the period, if none has ended since the tag got settings. */
  used(storeMs: number): number {
    const counting = this.#reserved.filter(
      ({ state, leaseUntilMs }) => state === 'committed' || (state === 'open' && storeMs < leaseUntilMs),
    );
    return counting.reduce((total, { characters }) => total + characters, this.#chargedBefore);
  }
}
