// What passed and what failed, counted over steps and over the tests inside them; its last line is `N passed, N failed`.
import process from 'node:process';
import type { Counts } from './counts.ts';

/** Prints a line; everything for a person goes through here. */
export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

export class StepCounts {
  passed = 0;
  failed = 0;

  /** Runs one step; an error fails it and is printed, counts that it gives back are added instead of one. */
  async step(name: string, work: () => Promise<Counts | void>): Promise<boolean> {
    const startMs = performance.now();
    const seconds = (): string => `${((performance.now() - startMs) / 1000).toFixed(1)} s`;
    try {
      const counts = (await work()) ?? { passed: 1, failed: 0 };
      this.passed += counts.passed;
      this.failed += counts.failed;
      say(`${counts.failed === 0 ? 'passed' : 'FAILED'} in ${seconds()}: ${name}`);
      return counts.failed === 0;
    } catch (error) {
      this.failed += 1;
      say(`FAILED in ${seconds()}: ${name}\n${(error as Error).message}`);
      return false;
    }
  }

  /** Prints the closing line; the exit status that goes with it. Nothing counted is a failure too. */
  close(): 0 | 1 {
    say(`${this.passed} passed, ${this.failed} failed`);
    return this.failed === 0 && this.passed > 0 ? 0 : 1;
  }
}
