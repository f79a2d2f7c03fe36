// Every metric: name without `lingate_`, kind, help, labels, and how processes combine.

export interface MetricDescription {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
  readonly aggregator: 'sum' | 'min' | 'max';
  /** Of a histogram, the upper bounds of its buckets, without infinity. */
  readonly buckets?: readonly number[];
}

const DURATIONS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];
const STORE_DURATIONS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];
const DOCUMENT_DURATIONS = [0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600];

function counter(help: string, ...labels: readonly string[]): MetricDescription {
  return { kind: 'counter', help, labels, aggregator: 'sum' };
}

function histogram(buckets: readonly number[], help: string, ...labels: readonly string[]): MetricDescription {
  return { kind: 'histogram', help, labels, aggregator: 'sum', buckets };
}

/** `max`, too, where all processes say the same: of the store, for example. */
function gauge(aggregator: MetricDescription['aggregator'], help: string, ...labels: readonly string[]): MetricDescription {
  return { kind: 'gauge', help, labels, aggregator };
}

export const METRICS = {
  requests_total: counter(
    'Requests by route, status and code; status 0: the caller disconnected before the answer.',
    'route',
    'status',
    'code',
  ),
  request_duration_seconds: histogram(DURATIONS, 'From the first byte of a request to its answer, by route.', 'route'),
  store_duration_seconds: histogram(STORE_DURATIONS, "A request's wait for the store."),
  engine_duration_seconds: histogram(DURATIONS, "A request's wait for the engine, both attempts."),
  characters_total: counter('Characters of delivered translations.'),
  engine_characters_total: counter(
    'Characters of delivered translations by engine; of a request in parts, the engine of the last part.',
    'engine',
  ),
  admissions_total: counter('Admissions by result.', 'result'),
  key_lookups_total: counter(
    'Key lookups answered by the cache (hit, unknown_hit) or the store (miss), or refused (too many at once).',
    'result',
  ),
  requests_shed_total: counter(
    'Requests refused because of load: too many in flight, in this process or of one team, or a slow event loop.',
    'reason',
  ),
  settlements_total: counter(
    'Settled reservations by verdict and result; a commit that is expired or abandoned was delivered uncharged, an absent one perhaps charged.',
    'verdict',
    'result',
  ),
  requests_in_flight: gauge('sum', 'Requests in flight.'),
  open_reservations: gauge('sum', 'Reservations that this process holds, or may hold, and has not settled.'),
  open_settlements: gauge('sum', 'Commits and releases that the store has not acknowledged yet.'),
  event_loop_delay_seconds: gauge('max', 'Delay of the event loop since the last scrape, by percentile; 100 is the longest.', 'percentile'),
  store_up: gauge('min', '1 while the store answers the background probe.'),
  store_writable: gauge('min', '1 while the whole store takes writes.'),
  clock_step_seconds: gauge('max', 'How far the store’s clock is from the right time; 0 while it is right.'),
  draining: gauge('max', '1 while the process finishes its last requests before it stops.'),
  tls_certificate_expiry_timestamp_seconds: gauge(
    'min',
    'When the certificate of the public listener ends, in seconds since 1970.',
    'file',
  ),
  workers_replaced_total: counter('Workers replaced because they ended, or hung for ten seconds.', 'reason'),

  engine_attempts_total: counter(
    'Attempts by replica and outcome: usable, or the failure. A shared call counts once.',
    'engine',
    'replica',
    'outcome',
  ),
  engine_attempt_duration_seconds: histogram(
    DURATIONS,
    'Duration of attempts, with the wait for a connection; not of those whose caller disconnected.',
    'engine',
  ),
  engine_second_attempts_total: counter('Second attempts of requests by engine and result: usable or failed.', 'engine', 'result'),
  engine_quota_exhausted_total: counter('Attempts that failed because your own quota at the engine is used up: alert on this.', 'engine'),
  engine_batches_total: counter('Calls to the engine shared by several requests.', 'engine'),
  engine_batched_requests_total: counter('Requests whose first attempt was a shared call.', 'engine'),
  engine_tokens_total: counter('Tokens that a language model says it read (prompt) and wrote (completion).', 'engine', 'kind'),
  engine_unasked_total: counter('Times that an engine sent unexpected bytes.', 'engine'),
  engine_calls_in_flight: gauge('sum', 'Calls to the engine that hold a connection.', 'engine'),
  engine_calls_waiting: gauge('sum', 'Calls to the engine that wait for a connection.', 'engine'),
  engine_replica_up: gauge(
    'min',
    "1 while a replica is in use, 0 while it is set aside; an engine's only replica is never set aside.",
    'engine',
    'replica',
  ),
  engine_limit_reached: gauge(
    'max',
    '1 while an engine has used up its characters (engines.NAME.characters) and gets no requests; absent for engines without a limit.',
    'engine',
  ),

  documents_total: counter('Documents by outcome (uploaded, done, error) and code.', 'outcome', 'code'),
  document_files_refused_total: counter('Files that the parser of their format refused after the upload.', 'format'),
  document_duration_seconds: histogram(DOCUMENT_DURATIONS, 'From the upload of a document until it is translated.'),
  documents_open: gauge('max', 'Documents of all teams that are queued or in translation.'),
  documents_at_work: gauge('sum', 'Documents in translation by this gateway.'),
  documents_oldest_seconds: gauge('max', 'Age of the oldest open document; 0 without one.'),
  document_bytes: gauge('max', 'Bytes of all files of documents.'),
  document_bytes_limit: gauge('max', 'The most bytes of all files (documents.store_bytes).'),

  events_pending: gauge('sum', 'Events waiting to be sent; 0 at gateways that do not send.'),
  events_delivered_total: counter('Events delivered to the receiver.'),
  events_failed_total: counter('Failed attempts to deliver an event.'),
  events_dropped_total: counter('Events dropped after three days.'),

  teams: gauge('max', 'Teams by condition, as of the last check of all teams.', 'condition'),
  team_metrics_age_seconds: gauge('max', 'Time since the last complete check of all teams.'),
  team_quota_used_ratio: gauge('max', "Settled share of the period's characters, including overage; the highest teams.", 'team_id'),
  team_credit_characters: gauge('max', 'Characters that the credit still buys; the lowest teams.', 'team_id'),
  team_key_unused_seconds: gauge(
    'max',
    "How long the team's longest unused active key has been unused; the longest teams.",
    'team_id',
    'key_id',
  ),
} as const satisfies Readonly<Record<string, MetricDescription>>;

export type MetricName = keyof typeof METRICS;

/** For the operator's manual. */
export function everyMetric(): readonly (MetricDescription & { readonly name: string })[] {
  const all = Object.entries<MetricDescription>(METRICS).map(([name, metric]) => ({ ...metric, name: `lingate_${name}` }));
  return all.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}
