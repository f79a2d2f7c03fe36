// Stops a run of vitest that takes too long: reports which tests were running, and kills them with everything that they started.
import process from 'node:process';
import type { Plugin } from 'vitest/config';
import type { ReportedHookContext, Reporter, TestCase, TestModule } from 'vitest/node';
import { killTree } from './process-tree.ts';

/** For the configuration's `plugins`, so that it applies whatever reporters the command line names. */
export function suiteLimit(minutes: number): Plugin {
  return {
    name: 'suite-limit',
    configureVitest({ vitest }) {
      vitest.config.reporters.push(new SuiteLimit(minutes));
    },
  };
}

/** A test's own limit does not fire while the test blocks its process, and nothing limits what hangs between tests. */
class SuiteLimit implements Reporter {
  readonly #minutes: number;
  /** By id: files, hooks and tests that are running, with their start times. */
  readonly #running = new Map<string, { readonly name: string; readonly sinceMs: number }>();
  #timer: NodeJS.Timeout | undefined = undefined;

  constructor(minutes: number) {
    this.#minutes = minutes;
  }

  onTestRunStart(): void {
    this.#timer ??= setTimeout(() => this.#cut(`after ${this.#minutes} minutes`), this.#minutes * 60_000).unref();
    process.prependOnceListener('SIGTERM', this.#terminated);
  }

  onTestRunEnd(): void {
    process.off('SIGTERM', this.#terminated);
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  onTestModuleQueued(module: TestModule): void {
    this.#begin(module.id, module.relativeModuleId);
  }

  onTestModuleEnd(module: TestModule): void {
    this.#running.delete(module.id);
  }

  onTestCaseReady(test: TestCase): void {
    this.#begin(test.id, `${test.module.relativeModuleId} > ${test.fullName}`);
  }

  onTestCaseResult(test: TestCase): void {
    this.#running.delete(test.id);
  }

  onHookStart({ name, entity }: ReportedHookContext): void {
    this.#begin(`${entity.id} ${name}`, `${entity.type === 'module' ? entity.relativeModuleId : entity.fullName} > ${name}`);
  }

  onHookEnd({ name, entity }: ReportedHookContext): void {
    this.#running.delete(`${entity.id} ${name}`);
  }

  #begin(id: string, name: string): void {
    this.#running.set(id, { name, sinceMs: performance.now() });
  }

  readonly #terminated = (): void => this.#cut('by SIGTERM');

  #cut(how: string): never {
    const nowMs = performance.now();
    const lines = [...this.#running.values()].map(({ name, sinceMs }) => `  ${name} (for ${Math.round((nowMs - sinceMs) / 1000)} s)\n`);
    process.stderr.write(`\nThe suite was cut ${how}. These were running:\n${lines.join('')}`);
    killTree(process.pid);
    process.exit(1);
  }
}
