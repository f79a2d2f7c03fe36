// A planted bug: what is changed in a copy of the sources, and which tests must notice.

export interface Edit {
  /** From the project's root. */
  readonly file: string;
  /** Must be there exactly once. */
  readonly find: string;
  readonly replace: string;
}

export interface Mutation {
  /** What is wrong, in a few words. */
  readonly name: string;
  readonly edits: readonly Edit[];
  /** The tests that notice: a file, or a file and the part of it that is to run. */
  readonly caughtBy: readonly TestRun[];
}

export interface TestRun {
  readonly file: string;
  /** A pattern of test names. */
  readonly names?: string;
  readonly env?: Readonly<Record<string, string>>;
}
