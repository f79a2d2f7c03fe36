// What a failed attempt means, and what to do: for `lingate engine check`, and for the manual.
import { tableText } from './manual-tables.ts';
import type { AttemptFailure, FailureCause, FailureDetail } from '../ports/engine.ts';

interface FailureAdvice {
  readonly means: string;
  /** Our own sentence. Contains nothing that the engine said. */
  readonly advice: string;
}

/** If neither the status nor the cause says more. */
const BY_FAILURE: Readonly<Record<AttemptFailure, FailureAdvice>> = {
  connect: {
    means: 'no connection',
    advice: 'Check that the engine runs and can be reached from here at the host and port in engine.urls.',
  },
  reset: {
    means: 'the connection ended before an answer, or the answer was not HTTP',
    advice: "Check the engine's log for a crash, and that engine.urls has https exactly where the engine speaks TLS.",
  },
  timeout: {
    means: 'no answer within engine.timeout_ms',
    advice: "Check the engine's load; if it is just slow, raise engine.timeout_ms and limits.reservation_seconds.",
  },
  status: { means: 'the answer has an error status', advice: "Check the engine's log for why it refuses the request." },
  too_large: {
    means: 'the answer is longer than a translation of the request can be',
    advice:
      'Check that engine.urls leads to the engine; if its answers are that long, raise engine.response_bytes_max or response_bytes_factor.',
  },
  not_json: {
    means: 'the answer is not JSON: usually a web page',
    advice: 'Check the path in engine.urls, and that the engine there speaks engine.protocol.',
  },
  wrong_shape: {
    means: 'the answer is JSON, but not the translations of these texts',
    advice: 'Check that the engine speaks engine.protocol; a language model may be too small to follow the format.',
  },
  cut_off: {
    means: "a language model's answer ended at its token limit",
    advice: "Raise engine.options.max_tokens_per_character, or the server's own limit, or turn the model's thinking off.",
  },
  foreign_id: {
    means: 'the answer has the id of another request',
    advice:
      'Look for a proxy in front of the engine that mixes up answers; set engine.check_ids: false only if the engine makes ULIDs of its own, as Lingate does.',
  },
  unasked: {
    means: 'the engine sent unexpected bytes',
    advice: 'Look for a proxy in front of the engine that answers twice, or set engine.keep_alive: false.',
  },
  glossary_refused: {
    means: 'the engine does not take the glossary',
    advice:
      'Check the number of glossaries in your account at the provider, and that it has them for these languages. The caller gets a 400 that names the glossary.',
  },
  file_refused: {
    means: 'the engine does not take this file of a document',
    advice:
      "If it is one file, nothing: its sender gets a validation_error. Otherwise check the engine's limits and formats, or set files: false in its options.",
  },
  unsupported_pair: {
    means: 'the engine does not translate between these languages',
    advice: 'Install the pair at the engine, or list the available ones in engine.pairs; --from and --to check another.',
  },
  no_detection: {
    means: 'the text came without `source_lang`, and the engine does not detect languages',
    advice:
      'Have callers send source_lang (they get a 400 that says so), or give the engine language identification (Apertium APY: cld2, or analyser modes).',
  },
  busy: {
    means: 'all connections were in use, and the queue was full or too slow',
    advice: 'Add replicas, or raise engine.connections_max if the engine can take more calls.',
  },
  engine_quota: {
    means: "your own quota at the engine's provider is used up",
    advice: 'Raise the quota at the provider, or wait for its next period.',
  },
  cancelled: { means: 'the caller disconnected before there was an answer', advice: 'Nothing: the engine did not fail.' },
  internal: {
    means: "a bug in the protocol's adapter",
    advice: "Report it to the protocol's author, with the engine's version and the log line's thrown.",
  },
};

/** Says what is wrong as well, if the cause does not. */
const BY_CAUSE: Readonly<Record<FailureCause, string>> = {
  refused: 'Start the engine, or check host and port in engine.urls: nobody listens there.',
  name_unknown: 'Check the host name in engine.urls: it does not resolve here.',
  unreachable: 'Check the address in engine.urls and the network: there is no route to it.',
  silent: 'Check the address in engine.urls and the firewalls: nothing answers there.',
  tls_name: "Use the certificate's host name in engine.urls, or give the engine a certificate for this name.",
  tls_untrusted: "Set NODE_EXTRA_CA_CERTS to a file with its issuer's certificate, or give the engine one that is trusted here.",
  tls_expired: "Renew the engine's certificate, and check the clocks of both machines.",
  tls_handshake: 'Use http in engine.urls if the engine does not speak TLS; otherwise check its TLS versions.',
  model_unknown: 'Check engine.options.model: the server has no model with that name.',
};

const BY_STATUS: readonly (readonly [statuses: readonly number[], advice: string])[] = [
  [[301, 302, 303, 307, 308], 'Put the address that it redirects to into engine.urls; redirects are not followed.'],
  [
    [400, 422],
    "Check engine.protocol, the languages and engine.options; a language model server without JSON schemas needs schema: none. The engine's log says more.",
  ],
  [[401, 403], 'Check the key in engine.options (api_key, token or headers): the engine refuses it, or needs one.'],
  [[402], "Check your account at the engine's provider: it asks for payment."],
  [[404, 405], 'Check the path in engine.urls and engine.protocol: the engine has no such path.'],
  [[413], "Raise the engine's own limit, or lower max_characters_per_request in the plans: the request is too long for it."],
  [[429, 503], 'Give the engine more capacity, or lower engine.connections_max: it is overloaded.'],
  [[502, 504], 'Check the proxy in front of the engine, and that the engine behind it runs.'],
  [[500], "Check the engine's log: it failed to handle the request."],
];

/** What kind of a failure it was. */
export function meaningOf(failure: AttemptFailure): string {
  return BY_FAILURE[failure].means;
}

export function adviceFor({ failure, status, cause }: FailureDetail): string {
  if (cause !== undefined) return BY_CAUSE[cause];
  const ofStatus = failure === 'status' ? BY_STATUS.find(([statuses]) => statuses.includes(status ?? 0)) : undefined;
  return ofStatus?.[1] ?? BY_FAILURE[failure].advice;
}

/** A row for every failure, followed by one for each cause and status that says more. */
export function failureTable(): string {
  const causes = Object.entries(BY_CAUSE).map(([cause, advice]) => [`\`${cause}\``, advice] as const);
  const ofModel = ([cause]: readonly [string, string]): boolean => cause === '`model_unknown`';
  const more: Partial<Record<string, readonly (readonly [mark: string, advice: string])[]>> = {
    connect: causes.filter((cause) => !ofModel(cause)),
    status: [...BY_STATUS.map(([statuses, advice]) => [statuses.join(', '), advice] as const), ...causes.filter(ofModel)],
  };
  const rows = Object.entries(BY_FAILURE).flatMap(([failure, { means, advice }]) => [
    [`\`${failure}\``, means, advice],
    ...(more[failure] ?? []).map(([mark, ofMark]) => [`\`${failure}\`: ${mark}`, '', ofMark]),
  ]);
  return tableText(['`failure`', 'means', 'what to do'], rows);
}
