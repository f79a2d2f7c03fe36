// The types of a planted bug: its edits in a copy of the sources, and the tests that must fail.

export interface Edit {
  /**
   * The declaration in which it is, by its name: a function, a class or its member (`Rotation.#from`), a variable of a module or a
   * property of its object. Names of outer declarations come first, as far as it takes to be the only one in src, and a file last
   * where that is not enough (`run in serve.ts`). Only a file's name stands for all of it.
   */
  readonly where: string;
  /** Must occur there exactly once, whatever its formatting and the comments in it. Begins and ends with whole words. */
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
