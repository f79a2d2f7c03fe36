// What happened in a run, line by line: a fingerprint that two runs of a seed share, and the lines if requested.
import { createHash } from 'node:crypto';

export class Trace {
  readonly #hash = createHash('sha256');
  readonly #lines: string[] | undefined;

  /** Without `keeps` only the fingerprint is computed. */
  constructor(keeps: boolean) {
    this.#lines = keeps ? [] : undefined;
  }

  add(atMs: number, who: string, what: string): void {
    const line = `${atMs.toFixed(3).padStart(12)} ${who}: ${what}\n`;
    this.#hash.update(line);
    this.#lines?.push(line);
  }

  get text(): string {
    return this.#lines?.join('') ?? '';
  }

  /** Call once, at the end. */
  fingerprint(): string {
    return this.#hash.digest('hex');
  }
}
