// What callers see whose requests overlap: of each it is known how it was answered and while what else it was under way, not when the
// store took it, nor, without an answer, whether it did. Whatever order is possible is right; what no order explains is a violation.

/** A request that one limit counts, as its caller sees it. Times are of any clock that all callers share. */
export interface Ask {
  readonly cost: number;
  /** The process that handled it. */
  readonly via: string;
  readonly from: number;
  to: number;
  /** `freed`: it took its place, and its characters came back. `unknown`: it may have been counted or not. */
  outcome: 'counted' | 'freed' | 'refused' | 'unknown';
}

/** What the store may have failed to count: writes that were lost with it, or the last charges of processes that were killed. */
interface Losses {
  readonly living: readonly string[];
  /** Whether writes may be lost that were acknowledged. */
  readonly isLossy: boolean;
}

export class OverlappingLimit {
  readonly counts: 'requests' | 'characters';
  readonly most: number;
  readonly violations: string[] = [];
  readonly total = { asked: 0, admitted: 0, refused: 0, unknown: 0 };
  /** What was used and is not counted. */
  lost = 0;
  #asks: Ask[] = [];
  /** What the store had counted when nothing was under way. */
  #used = 0;
  #turn = 0;

  constructor(counts: 'requests' | 'characters', most: number) {
    this.counts = counts;
    this.most = most;
  }

  get left(): number {
    return this.most - this.#used;
  }

  get beyond(): number {
    return Math.max(0, this.total.admitted - this.most);
  }

  /** A request is sent. */
  sent(cost: number, via: string): Ask {
    const ask: Ask = { cost, via, from: this.#turn++, to: Infinity, outcome: 'unknown' };
    this.#asks.push(ask);
    return ask;
  }

  answered(ask: Ask, outcome: Ask['outcome']): void {
    ask.to = this.#turn++;
    ask.outcome = outcome;
  }

  /** Nothing is held and nothing is under way, and the store has counted so much. */
  settle(now: number, losses: Losses): void {
    const counted = this.#asks.filter(({ outcome }) => outcome === 'counted' || (outcome === 'freed' && this.counts === 'requests'));
    const unknown = this.#asks.filter(({ outcome }) => outcome === 'unknown');
    const [least, most] = [this.#used + costOf(counted), this.#used + costOf(counted) + costOf(unknown)];
    const lost = Math.max(0, least - now);
    const free = losses.isLossy ? Infinity : costOf(this.#lastOnes(losses.living));
    if (now > most || lost > free) this.#violate(`${now} are counted, of ${least} to ${most} that were seen`);
    if (now > this.most) this.#violate(`${now} are counted`);
    this.#judgeRefusals();
    this.#judgeAdmissions(counted, free);
    this.total.asked += this.#asks.length;
    this.total.admitted += costOf(counted);
    this.total.unknown += unknown.length;
    this.total.refused += this.#asks.filter(({ outcome }) => outcome === 'refused').length;
    this.lost += lost;
    this.#used = now;
    this.#asks = [];
    if (this.beyond > this.lost) this.#violate(`${this.beyond} were used beyond it, ${this.lost} of them were not counted`);
  }

  /**
   * The answers of killed processes whose charge may not have reached the store. It had if a later request of that process was admitted:
   * the charge is sent with the answer, and the store takes both in order.
   */
  #lastOnes(living: readonly string[]): Ask[] {
    if (this.counts === 'requests') return [];
    const admitted = this.#asks.filter(({ via, outcome }) => !living.includes(via) && (outcome === 'counted' || outcome === 'freed'));
    return [...Map.groupBy(admitted, ({ via }) => via).values()].flatMap((asks) => {
      const lastFrom = Math.max(...asks.map(({ from }) => from));
      return asks.filter(({ outcome, to }) => outcome === 'counted' && to > lastFrom);
    });
  }

  /** What was sent before a refusal was answered, and not refused itself, must have filled the limit. */
  #judgeRefusals(): void {
    const events = this.#asks.map((ask) => ({ at: ask.outcome === 'refused' ? ask.to : ask.from, ask }));
    let sent = this.#used;
    for (const { ask } of events.toSorted((one, other) => one.at - other.at)) {
      if (ask.outcome !== 'refused') sent += ask.cost;
      else if (sent + ask.cost <= this.most) this.#violate(`${ask.cost} were refused with at most ${sent} counted`);
    }
  }

  /** What was answered before an admitted request was sent, and is charged, must have left room for it. */
  #judgeAdmissions(counted: readonly Ask[], free: number): void {
    const events = counted.flatMap((ask) => [
      { at: ask.from, ask, isEnd: false },
      { at: ask.to, ask, isEnd: true },
    ]);
    let certain = this.#used;
    for (const { ask, isEnd } of events.toSorted((one, other) => one.at - other.at)) {
      if (isEnd) certain += ask.cost;
      else if (certain + ask.cost - free > this.most) this.#violate(`${ask.cost} were admitted with at least ${certain} counted`);
    }
  }

  #violate(what: string): void {
    this.violations.push(`a limit of ${this.most} ${this.counts}: ${what}`);
  }
}

function costOf(asks: readonly Ask[]): number {
  return asks.reduce((sum, { cost }) => sum + cost, 0);
}

interface Use {
  readonly characters: number;
  readonly requests: number;
}

/** What is wrong with a charge for work that its client did, did perhaps, or never got: it is charged once and whole, or not at all. */
export function chargeFault(got: 'certainly' | 'perhaps' | 'never', price: number, { characters, requests }: Use): string | undefined {
  const isCharged = characters === price && requests === 1;
  const isFree = characters === 0 && requests === 0;
  const isRight = got === 'certainly' ? isCharged : got === 'never' ? isFree : isCharged || isFree;
  return isRight ? undefined : `charged ${characters} in ${requests}, of ${price}, which was ${got} delivered`;
}
