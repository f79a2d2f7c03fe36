// Selects a replica: healthy ones in rotation, one that was set aside for a trial or if there is no other.
import type { ReplicaStanding } from './replica.ts';

/** An engine that gets first attempts tries a due replica within this time. */
const OVERDUE_MS = 1000;

interface Rotated {
  readonly standing: ReplicaStanding;
}

export class Rotation<T extends Rotated> {
  /** At least one; change it by `replace`. */
  members: readonly T[] = [];
  readonly #nowMs: () => number;
  #aside = 0;
  /** Index of the next replica. */
  #turn = 0;
  /** The same for second attempts, which must not advance the rotation of first ones. */
  #secondTurn = 0;

  /** `nowMs` is a monotonic clock. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** At least one. */
  replace(members: readonly T[]): void {
    this.members = members;
    this.#turn %= members.length;
    this.#secondTurn %= members.length;
    this.recount();
  }

  /** Call it when a replica was set aside or restored. */
  recount(): void {
    this.#aside = this.members.filter(({ standing }) => standing.aside).length;
  }

  first(): T {
    const members = this.members;
    if (members.length === 1) return members[0]!;
    if (this.#aside > 0) return this.#firstOfSome();
    const member = members[this.#turn]!;
    this.#turn = this.#turn + 1 === members.length ? 0 : this.#turn + 1;
    return member;
  }

  /** A healthy one other than `previous`; `previous` again rather than one that is set aside. */
  second(previous: T): T {
    const members = this.members;
    if (members.length === 1) return members[0]!;
    const others = (member: T): boolean => member !== previous;
    const good = this.#from(this.#secondTurn, (member) => others(member) && !member.standing.aside);
    if (good === undefined && !previous.standing.aside && members.includes(previous)) return previous;
    const index = good ?? this.#leastBad(this.#secondTurn, others);
    this.#secondTurn = (index + 1) % members.length;
    return members[index]!;
  }

  /** For work that failed at another engine: a healthy replica, because this is the last attempt; another only if none is healthy. */
  afterAnother(): T {
    const members = this.members;
    if (members.length === 1) return members[0]!;
    const nowMs = this.#nowMs();
    const turn = this.#secondTurn;
    const index =
      this.#from(turn, ({ standing }) => !standing.aside) ??
      this.#from(turn, ({ standing }) => standing.isDue(nowMs)) ??
      this.#leastBad(turn, () => true);
    this.#secondTurn = (index + 1) % members.length;
    return members[index]!;
  }

  /** A replica that has been due for a trial for a while without a first attempt, because its engine may only be a fallback. */
  overdue(): T | undefined {
    if (this.#aside === 0) return undefined;
    const thenMs = this.#nowMs() - OVERDUE_MS;
    return this.members.find(({ standing }) => standing.isDue(thenMs));
  }

  /** If some are set aside: one that is due for a trial, or the next healthy one. */
  #firstOfSome(): T {
    const nowMs = this.#nowMs();
    const due = this.members.find(({ standing }) => standing.isDue(nowMs));
    if (due !== undefined) return due;
    const index = this.#from(this.#turn, ({ standing }) => !standing.aside) ?? this.#leastBad(this.#turn, () => true);
    this.#turn = (index + 1) % this.members.length;
    return this.members[index]!;
  }

  /** The index of the next one that fits. */
  #from(turn: number, fits: (member: T) => boolean): number | undefined {
    const { length } = this.members;
    for (let i = 0; i < length; i++) {
      const index = (turn + i) % length;
      if (fits(this.members[index]!)) return index;
    }
    return undefined;
  }

  /** If none is healthy: in rotation, those with the fewest consecutive times aside. */
  #leastBad(turn: number, fits: (member: T) => boolean): number {
    const times = Math.min(...this.members.filter(fits).map(({ standing }) => standing.times));
    return this.#from(turn, (member) => fits(member) && member.standing.times === times)!;
  }
}
