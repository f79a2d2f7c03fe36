// The two ways in which a command tells a person that it did not do its work.

/** What was asked for could not be done: exit status 1. Its message is one line that says what to do. */
export class CommandFailure extends Error {
  override name = 'CommandFailure';
}

/** The command line itself is wrong: exit status 2. */
export class UsageError extends Error {
  override name = 'UsageError';
}
