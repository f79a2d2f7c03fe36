// The types of a planted bug: its edits in a copy of the sources, and the tests that must fail.

export interface Edit {
  /** From the project's root. */
  readonly file: string;
  /** Must occur exactly once. */
  readonly find: string;
  readonly replace: string;
}

export interface Mutation {
  /** What is wrong, in a few words. */
  readonly name: string;
  readonly edits: readonly Edit[];
  /** The tests that must fail: a file, or part of one. */
  readonly caughtBy: readonly TestRun[];
}

export interface TestRun {
  readonly file: string;
  /** A pattern of test names. */
  readonly names?: string;
  readonly env?: Readonly<Record<string, string>>;
}
