// The revocations and deletions of the last hour that this process has made or met: what a master that lost them is told again.

export interface Revocation {
  readonly teamId: string;
  /** `undefined`: the whole team was deleted. */
  readonly keyId: string | undefined;
  /** Of a deleted team. */
  readonly keepUsage?: boolean;
}

/** Failovers that lose writes lose the last seconds; an hour has room for one that nobody noticed at first. */
const KEPT_MS = 3_600_000;
/** A megabyte or two. Beyond it the oldest is forgotten. */
const KEPT_MAX = 10_000;
/** A key that is tried again and again is not noted each time. */
const NOTED_ANEW_MS = 60_000;

export class RecentRevocations {
  /** By key, or by deleted team; the one that was noted last at the end. */
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
