// The rows of the scorecard: their subjects and targets.

export interface Row {
  readonly row: number;
  readonly what: string;
  readonly target: string;
}

export const ROWS: readonly Row[] = [
  ['Accounting equality without faults', 'difference 0; L1 to L5 hold per id'],
  ['Gateway crash', '0 charged failures; at most what was in flight uncharged; held 0 one lease later'],
  ['Redis crash', '0 acknowledged lost; only 503 with Retry-After 5; first 200 within 1 s of the restart'],
  ['Redis freeze', 'every answer within its deadline + 50 ms; late executions leave 0 held, 0 charged'],
  ['Lost replies', 'runs per id at most 1'],
  ['Cluster failover', 'outage at most 3 s; other masters 0 errors; 0 double; 0 lost with min-replicas, the loss without it told'],
  ['Limiter exactness', '0 violations in either direction in 50,000'],
  ['Revocation and rotation', '0 accepted after the reply; the overlap of two keys loses 0'],
  ['Model test', '0 divergences of model, SQLite and Redis in 50,000 commands of 1,000 histories'],
  ['Simulation', '0 violations in 10,000 seeds; every seed replays to the byte'],
  ['Test power', 'every wrong port and every edit of Lua and SQL noticed'],
  ['HTTP table', '150 cases on both listeners, all of the expected class; 0 crashes; deviations listed by number'],
  ['Smuggling', '0 hidden requests handled and 0 wrong canaries of 60 payloads, directly and behind two fronts'],
  ['Fragmentation', 'the same answer wherever the cut is, but for known places in the request line'],
  ['JSON corpus', '188 n refused, 95 y never called malformed, 40 cases of bytes; 0 5xx'],
  ['Naughty strings', '500 strings in 8 places: byte-exact to the engine, charged by code points, 0 5xx, 0 reflected'],
  ['Fuzz', '0 crashes, 0 5xx, 0 hangs beyond a deadline'],
  [
    'Slow clients',
    '2,000 connections gone within 15 s; p99 of good traffic at most 2 times baseline; RSS, with a fixed malloc threshold: after a forced collection at most the unread answers + 30 MB, before it at most five copies of them more',
  ],
  ['Abort storm', '0 crashes, every id final, no failure charged, in 10,000 requests'],
  ['Engine faults', "exactly 2 attempts, then 503 with Retry-After 5; engine's words in 0 answers; total within the budget + 50 ms"],
  [
    'Overload',
    'goodput at least 90 % of peak; p99 of accepted at most 5 times idle; event loop p99 below 50 ms; queue bounded; recovers within 2 s',
  ],
  ['Drain', '0 failed requests in 20 SIGTERMs under load, exit 0'],
  ['Soak', 'heap below +1 MB/min, descriptors within 5, timers and Redis keys back to the start'],
  ['Secrets', '0 hits but for the first twelve characters of a key'],
  ['SQLite power cut', 'always a prefix of the commits, whole; 0 acknowledged lost with FULL; on EIO 503, never a wrong balance'],
].map(([what, target], index) => ({ row: index + 1, what: what!, target: target! }));
