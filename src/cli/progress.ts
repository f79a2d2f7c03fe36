// Progress of an export on standard error: a counter at a terminal that shows nothing else, otherwise a line now and then.
import type { Io } from './command.ts';

const LINE_TEAMS = 25_000;
const TERMINAL_MS = 200;

export class Progress {
  readonly #io: Io;
  readonly #command: string;
  #shownAtMs: number;
  #lines = 0;
  #counted = '';

  constructor(io: Io, command: string) {
    this.#io = io;
    this.#command = command;
    this.#shownAtMs = io.nowMs();
  }

  show(teams: number): void {
    if (this.#io.watched) this.#count(teams);
    else this.#line(teams);
  }

  /** Clears the counter. */
  end(): void {
    if (this.#counted !== '') this.#io.err(`\r${' '.repeat(this.#counted.length)}\r`);
  }

  #count(teams: number): void {
    const nowMs = this.#io.nowMs();
    if (this.#io.shown || nowMs - this.#shownAtMs < TERMINAL_MS) return;
    this.#shownAtMs = nowMs;
    this.#counted = `${teams} teams`;
    this.#io.err(`\r${this.#counted}`);
  }

  #line(teams: number): void {
    const lines = Math.floor(teams / LINE_TEAMS);
    if (lines > this.#lines) this.#io.err(`lingate ${this.#command}: ${teams} teams\n`);
    this.#lines = lines;
  }
}
