// The order in which vitest starts test files: large ones first, as it does itself, but those that are known to last before all others.
import { BaseSequencer } from 'vitest/node';
import type { TestSequencerConstructor, TestSpecification } from 'vitest/node';

/**
 * `files` are the ends of their paths. A new checkout remembers no durations, so vitest goes by the size of a file; a small one that
 * lasts would start among the last, and at the end the other workers would have nothing to do.
 */
export function longFilesFirst(files: readonly string[]): TestSequencerConstructor {
  const lasts = ({ moduleId }: TestSpecification): boolean => files.some((file) => moduleId.endsWith(file));
  return class extends BaseSequencer {
    override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
      // oxlint-disable-next-line unicorn/no-array-sort -- a method of vitest's
      const sorted = await super.sort(specifications);
      return [...sorted.filter(lasts), ...sorted.filter((one) => !lasts(one))];
    }
  };
}
