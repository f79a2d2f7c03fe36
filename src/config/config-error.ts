// The error of a refused configuration: every fault at once, one line each.

/** Each line names path, value and reason, and is fit to be shown as it is: no credentials, nothing over several lines. */
export class ConfigError extends Error {
  override name = 'ConfigError';
  readonly lines: readonly string[];
  /** All of the faults come from command line flags: a matter of usage, not of a file. */
  readonly flagsOnly: boolean;

  constructor(lines: readonly string[], flagsOnly = false) {
    super(lines.join('\n'));
    this.lines = lines;
    this.flagsOnly = flagsOnly;
  }
}
