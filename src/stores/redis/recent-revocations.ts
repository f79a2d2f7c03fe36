// The revocations and deletions that this process has made or seen in the last hour, to repeat them to a master that lost them.

export interface Revocation {
  readonly teamId: string;
  /** `undefined` if the whole team was deleted. */
  readonly keyId: string | undefined;
  /** Only for a deleted team. */
  readonly keepUsage?: boolean;
}

/** A failover loses the writes of its last seconds; an hour also covers one that was noticed late. */
const KEPT_MS = 3_600_000;
/** One or two megabytes. Beyond that, the oldest are dropped. */
const KEPT_MAX = 10_000;
/** A revoked key that keeps being used is not recorded at each attempt. */
const NOTED_ANEW_MS = 60_000;

export class RecentRevocations {
  /** By key id, or by team id for deleted teams; the most recently recorded last. */
  readonly #noted = new Map<string, { readonly revocation: Revocation; readonly atMs: number }>();
  readonly #now: () => number;

  /** `now` is a monotonic clock. */
  constructor(now: () => number) {
    this.#now = now;
  }

  note({ teamId, keyId, keepUsage }: Revocation): void {
    const nowMs = this.#now();
    const name = keyId ?? teamId;
    const before = this.#noted.get(name);
    if (before !== undefined && keyId !== undefined && nowMs - before.atMs < NOTED_ANEW_MS) return;
    this.#noted.delete(name);
    this.#noted.set(name, { revocation: { teamId, keyId, ...(keepUsage === undefined ? {} : { keepUsage }) }, atMs: nowMs });
    if (this.#noted.size > KEPT_MAX) this.#noted.delete(this.#noted.keys().next().value!);
  }

  all(): readonly Revocation[] {
    const sinceMs = this.#now() - KEPT_MS;
    for (const [name, { atMs }] of this.#noted) {
      if (atMs >= sinceMs) break;
      this.#noted.delete(name);
    }
    return [...this.#noted.values()].map(({ revocation }) => revocation);
  }
}
