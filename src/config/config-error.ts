// The error for a refused configuration: all faults at once, one line each.

/** Each line has path, value and reason, and can be printed as it is: without credentials, on one line. */
export class ConfigError extends Error {
  override name = 'ConfigError';
  readonly lines: readonly string[];
  /** All faults come from command line flags, so this is wrong usage and not a wrong file. */
  readonly flagsOnly: boolean;

  constructor(lines: readonly string[], flagsOnly = false) {
    super(lines.join('\n'));
    this.lines = lines;
    this.flagsOnly = flagsOnly;
  }
}
