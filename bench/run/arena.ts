// Everything that runs during a bench: engine, load processes, contestants; started once, kept until the end.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { NotOffered } from '../contestants/contestant.ts';
import type { Contestant, Ground, Running } from '../contestants/contestant.ts';
import { startServer } from '../contestants/program.ts';
import type { Program } from '../contestants/program.ts';
import { LoadGenerator } from '../load/load-generator.ts';
import { chooseCores } from '../machine/cores.ts';
import type { Cores } from '../machine/cores.ts';

const LOAD_PROCESSES = 1;

interface ArenaOptions {
  readonly teams: number;
}

export class Arena {
  readonly cores: Cores;
  readonly load: LoadGenerator;
  readonly engine: Program;
  readonly #folder: string;
  readonly #running: Running[] = [];
  readonly #engines: Program[] = [];
  readonly #teams: number;
  #started = 0;

  private constructor(cores: Cores, engine: Program, folder: string, teams: number) {
    this.cores = cores;
    this.engine = engine;
    this.load = new LoadGenerator(cores.others, LOAD_PROCESSES);
    this.#folder = folder;
    this.#teams = teams;
  }

  static async open({ teams }: ArenaOptions): Promise<Arena> {
    const cores = await chooseCores();
    const folder = mkdtempSync(join(tmpdir(), 'lingate-bench-'));
    // Also after Ctrl-C, which leaves no time for closing.
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
    const engine = await startServer('engine.ts', cores.others, folder, { delay: 0 });
    return new Arena(cores, engine, folder, teams);
  }

  /** Another engine, slower than the first. */
  async startEngine(delayMs: number): Promise<Program> {
    const folder = join(this.#folder, `engine-${delayMs}`);
    mkdirSync(folder, { recursive: true });
    const engine = await startServer('engine.ts', this.cores.others, folder, { delay: delayMs });
    this.#engines.push(engine);
    return engine;
  }

  /** A folder of its own, plus what all contestants get. */
  ground(name: string): Ground {
    const folder = join(this.#folder, `${this.#started++}-${name}`);
    mkdirSync(folder);
    return { cores: this.cores, enginePort: this.engine.port, folder, teams: this.#teams };
  }

  /** A string says why this contestant cannot run here. */
  async start(contestant: Contestant, changes: Partial<Ground> = {}): Promise<Running | string> {
    const ground = { ...this.ground(contestant.name), teams: contestant.teams ?? this.#teams, ...changes };
    try {
      const running = await contestant.start(ground);
      this.#running.push(running);
      return running;
    } catch (error) {
      if (error instanceof NotOffered) return error.message;
      throw new Error(`${contestant.name}: ${error instanceof Error ? error.message : 'it did not start'}`, { cause: error });
    }
  }

  async close(): Promise<void> {
    this.load.close();
    await Promise.allSettled(this.#running.map((running) => running.stop()));
    await Promise.all([this.engine, ...this.#engines].map((engine) => engine.stop()));
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
