// Why an attempt was unusable: fixed words for logs, metrics and plugins, never the engine's own.

/** What a failure says besides its word. */
interface FailureMeaning {
  /** It was found in an answer, with whose status it is reported. */
  readonly inAnswer?: true;
  /** It proves nothing about the replica. */
  readonly inconclusive?: true;
}

export const ATTEMPT_FAILURES = {
  connect: {},
  reset: {},
  timeout: {},
  status: { inAnswer: true },
  too_large: { inAnswer: true },
  not_json: { inAnswer: true },
  wrong_shape: { inAnswer: true },
  /** The answer carries the `X-Request-Id` of another request. */
  foreign_id: {},
  /** Unsolicited bytes arrived: the connection may no longer pair answers with requests. */
  unasked: {},
  /** A language model's answer hit its token limit. */
  cut_off: { inAnswer: true },
  unsupported_pair: { inAnswer: true, inconclusive: true },
  /** The text came without its language, and the engine detects none, whatever the text. */
  no_detection: { inAnswer: true, inconclusive: true },
  /** The engine does not take the dictionary. */
  glossary_refused: { inAnswer: true, inconclusive: true },
  /** The engine refuses this file: too long for it, of no format that it takes, or broken. */
  file_refused: { inAnswer: true, inconclusive: true },
  /** Our connections were all in use. */
  busy: { inconclusive: true },
  /** The operator's own quota at the engine is exhausted, which should raise an alert. */
  engine_quota: { inAnswer: true },
  cancelled: { inconclusive: true },
  internal: { inAnswer: true },
} as const satisfies Readonly<Record<string, FailureMeaning>>;

export type AttemptFailure = keyof typeof ATTEMPT_FAILURES;

export function meaningOf(failure: AttemptFailure): FailureMeaning {
  return ATTEMPT_FAILURES[failure];
}
