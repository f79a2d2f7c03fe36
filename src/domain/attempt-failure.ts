// Why an attempt was unusable: fixed words for logs, metrics and plugins, never the engine's own.

export const ATTEMPT_FAILURES = [
  'connect',
  'reset',
  'timeout',
  'status',
  'too_large',
  'not_json',
  'wrong_shape',
  /** The answer carries the `X-Request-Id` of another request. */
  'foreign_id',
  /** Unsolicited bytes arrived: the connection may no longer pair answers with requests. */
  'unasked',
  /** A language model's answer hit its token limit. */
  'cut_off',
  'unsupported_pair',
  /** The text came without its language, and the engine detects none, whatever the text. */
  'no_detection',
  /** The engine does not take the dictionary. */
  'glossary_refused',
  /** The engine refuses this file: too long for it, of no format that it takes, or broken. */
  'file_refused',
  'busy',
  /** The operator's own quota at the engine is exhausted, which should raise an alert. */
  'engine_quota',
  'cancelled',
  'internal',
] as const;

export type AttemptFailure = (typeof ATTEMPT_FAILURES)[number];
