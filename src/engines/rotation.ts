// Selects a replica: healthy ones in rotation, one that was set aside for a trial or if there is no other.
import type { ReplicaStanding } from './replica.ts';

/** An engine that gets first attempts tries a due replica within this time. */
const OVERDUE_MS = 1000;

interface Rotated {
  readonly standing: ReplicaStanding;
}

const isHealthy = ({ standing }: Rotated): boolean => !standing.aside;

export class Rotation<T extends Rotated> {
  /** At least one; change it by `replace`. */
  members: readonly T[] = [];
  readonly #nowMs: () => number;
  #aside = 0;
  /** Where to look first; second attempts must not advance the rotation of first ones. */
  readonly #turns = { first: 0, second: 0 };

  /** `nowMs` is a monotonic clock. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** At least one. */
  replace(members: readonly T[]): void {
    this.members = members;
    this.recount();
  }

  /** Call it when a replica was set aside or restored. */
  recount(): void {
    this.#aside = this.members.filter(({ standing }) => standing.aside).length;
  }

  /** One that is due for a trial, or the next healthy one. */
  first(): T {
    if (this.members.length === 1) return this.members[0]!;
    const due = this.#aside === 0 ? undefined : this.#dueAt(this.#nowMs());
    return due ?? this.#next('first', [isHealthy]);
  }

  /** A healthy one other than `previous`; `previous` again rather than one that is set aside. */
  second(previous: T): T {
    const { members } = this;
    if (members.length === 1) return members[0]!;
    const isOther = (member: T): boolean => member !== previous;
    const hasOther = members.some((member) => isOther(member) && isHealthy(member));
    if (!hasOther && isHealthy(previous) && members.includes(previous)) return previous;
    return this.#next('second', [(member) => isOther(member) && isHealthy(member)], isOther);
  }

  /** For work that failed at another engine: a healthy replica, because this is the last attempt; another only if none is healthy. */
  afterAnother(): T {
    const nowMs = this.#nowMs();
    return this.#next('second', [isHealthy, ({ standing }) => standing.isDue(nowMs)]);
  }

  /** A replica that has been due for a trial for a while without a first attempt, because its engine may only be a fallback. */
  overdue(): T | undefined {
    return this.#aside === 0 ? undefined : this.#dueAt(this.#nowMs() - OVERDUE_MS);
  }

  #dueAt(ms: number): T | undefined {
    return this.members.find(({ standing }) => standing.isDue(ms));
  }

  /** The next one that has the first of these marks that any has; otherwise, of `others`, one with the fewest times aside in a row. */
  #next(turn: 'first' | 'second', marks: readonly ((member: T) => boolean)[], others: (member: T) => boolean = () => true): T {
    const { members } = this;
    const timesOf = ({ standing }: T): number => standing.times;
    const leastBad = (member: T): boolean => others(member) && timesOf(member) === Math.min(...members.filter(others).map(timesOf));
    const from = this.#turns[turn];
    for (const mark of [...marks, leastBad]) {
      for (let i = 0; i < members.length; i++) {
        const index = (from + i) % members.length;
        if (!mark(members[index]!)) continue;
        this.#turns[turn] = (index + 1) % members.length;
        return members[index]!;
      }
    }
    throw new Error('there is no replica');
  }
}
