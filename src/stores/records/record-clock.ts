// The clock of a store that goes by those of its gateways' machines: a shared record has the latest time that a process has believed,
// by which all processes of the store judge their machines' clocks.
import type { ClockMark, JudgedClock } from '../../domain/judged-clock.ts';
import { SHARED_RECORDS } from '../../domain/shared-records.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { AcceptedClock, ClockStep, StoreClock } from '../../ports/clock.ts';
import type { RecordName, RecordSpace } from '../../ports/record-space.ts';

export const LATEST: RecordName = { table: 'clock', id: 'latest' };

export class RecordClock implements StoreClock {
  readonly #space: RecordSpace;
  readonly #clock: JudgedClock;

  constructor(space: RecordSpace, clock: JudgedClock) {
    this.#space = space;
    this.#clock = clock;
  }

  step(): ClockStep | undefined {
    const byMs = this.#clock.stepMs;
    return byMs === 0 ? undefined : { byMs };
  }

  async look(): Promise<StoreUnavailable | undefined> {
    const found = await this.#space.read(SHARED_RECORDS, [LATEST]);
    if (isUnavailable(found)) return found;
    const [value] = found;
    const due = this.#clock.compare(readMark(value));
    return due && this.#write(due);
  }

  async accept(): Promise<AcceptedClock | StoreUnavailable> {
    const steppedMs = this.#clock.stepMs;
    this.#clock.accept();
    const mark = this.#clock.mark();
    return (await this.#write(mark)) ?? { kind: 'accepted', nowMs: mark.latestMs, steppedMs };
  }

  async #write(mark: ClockMark): Promise<StoreUnavailable | undefined> {
    const put = [{ ...LATEST, value: JSON.stringify(mark) }];
    const written = await this.#space.change(SHARED_RECORDS, [], () => ({ result: true, put }));
    return isUnavailable(written) ? written : undefined;
  }
}

export function readMark(value: string | undefined): ClockMark | undefined {
  return value === undefined ? undefined : (JSON.parse(value) as ClockMark);
}
