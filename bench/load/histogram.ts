// Latencies in buckets less than one percent wide, so that tails of millions of values take a few kilobytes.

/** Buckets per power of two. */
const FINE_BITS = 7;
const FINE = 1 << FINE_BITS;
const SIZE = (31 - FINE_BITS) * FINE + FINE * 2;

/** Pairs of bucket and count, as sent between processes. */
export type Packed = readonly (readonly [bucket: number, count: number])[];

export interface Latency {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly maxMs: number;
}

export class Histogram {
  readonly #counts = new Float64Array(SIZE);
  #total = 0;

  get total(): number {
    return this.#total;
  }

  recordMs(ms: number): void {
    this.#counts[bucketOf(Math.max(0, Math.round(ms * 1000)))]!++;
    this.#total++;
  }

  add(packed: Packed): void {
    for (const [bucket, count] of packed) {
      this.#counts[bucket]! += count;
      this.#total += count;
    }
  }

  pack(): Packed {
    return Array.from(this.#counts, (count, bucket) => [bucket, count] as const).filter(([, count]) => count > 0);
  }

  quantileMs(share: number): number {
    const rank = Math.max(1, Math.ceil(this.#total * share));
    let seen = 0;
    for (let bucket = 0; bucket < SIZE; bucket++) {
      seen += this.#counts[bucket]!;
      if (seen >= rank) return middleUs(bucket) / 1000;
    }
    return 0;
  }

  summary(): Latency {
    return { p50Ms: this.quantileMs(0.5), p99Ms: this.quantileMs(0.99), p999Ms: this.quantileMs(0.999), maxMs: this.quantileMs(1) };
  }
}

/** Exact below 256 µs, then by power of two. */
function bucketOf(us: number): number {
  const value = Math.min(us, 2 ** 31 - 1);
  if (value < FINE * 2) return value;
  const shift = 31 - Math.clz32(value) - FINE_BITS;
  return shift * FINE + (value >> shift);
}

function middleUs(bucket: number): number {
  if (bucket < FINE * 2) return bucket;
  const shift = Math.floor(bucket / FINE) - 1;
  return (bucket - shift * FINE + 0.5) * 2 ** shift;
}
