// Compares what callers saw with what was charged: never a failure, every delivery once and exactly, and no id that nobody sent.
import type { Crash, Finding, History, Seen } from '../../../support/history.ts';
import { livesOf } from './lives.ts';
import type { Life } from './lives.ts';

/** L0, L1 and L2. */
export function chargeFindings(history: History): Finding[] {
  const lives = livesOf(history.operations);
  const found: Finding[] = [];
  const claimed = new Set<string>();
  for (const seen of history.seen) {
    if (seen.result.kind === 'unknown') continue;
    claimed.add(seen.result.requestId);
    const life = lives.get(seen.result.requestId);
    if (seen.result.kind === 'ok') found.push(...okFindings(seen, seen.result, life, history.crashes));
    else found.push(...failFindings(seen, seen.result, life));
  }
  return [...found, ...unclaimedFindings(history, lives, claimed)];
}

function okFindings(seen: Seen, result: Seen['result'] & { kind: 'ok' }, life: Life | undefined, crashes: readonly Crash[]): Finding[] {
  // A route without text: admitted, and nothing to charge.
  if (seen.characters === 0) return [];
  if (result.billed !== seen.characters) {
    return [{ invariant: 'L2', what: `${result.requestId} sent ${seen.characters} characters and was billed ${result.billed}` }];
  }
  if (life?.ended[0]?.as === 'committed') {
    const charged = life.reserved[0]?.characters;
    if (charged === seen.characters) return [];
    return [{ invariant: 'L2', what: `${result.requestId} sent ${seen.characters} characters and was charged ${charged}` }];
  }
  if (crashes.some((crash) => underWay(seen, crash))) return [];
  return [{ invariant: 'L2', what: `${result.requestId} was delivered and stands ${life?.ended[0]?.as ?? 'unknown to the journal'}` }];
}

function underWay({ via, startedAtMs, endedAtMs }: Seen, crash: Crash): boolean {
  return (crash.via === 'store' || crash.via === via) && startedAtMs <= crash.atMs && endedAtMs >= crash.atMs - crash.underWayMs;
}

function failFindings(
  { characters }: Seen,
  { requestId, status, code }: Seen['result'] & { kind: 'fail' },
  life: Life | undefined,
): Finding[] {
  if (life?.ended.some(({ as }) => as === 'committed') === true)
    return [{ invariant: 'L1', what: `${requestId} failed with ${status} ${code} and was charged` }];
  // It was admitted, with a reservation.
  if (life === undefined && characters > 0 && code === 'engine_unavailable')
    return [{ invariant: 'L0', what: `the journal has lost ${requestId}, answered ${code}` }];
  return [];
}

/** Ids without an answer: each belongs to one caller whose connection broke, and is charged only if it was delivered. */
function unclaimedFindings({ seen, handed }: History, lives: ReadonlyMap<string, Life>, claimed: ReadonlySet<string>): Finding[] {
  const found: Finding[] = [];
  const broken = Map.groupBy(
    seen.filter(({ result }) => result.kind === 'unknown'),
    ({ teamId, characters }) => `${teamId} ${characters}`,
  );
  for (const [id, { teamId, reserved, ended }] of lives) {
    const [reservation] = reserved;
    if (claimed.has(id) || reservation === undefined) continue;
    if (broken.get(`${teamId} ${reservation.characters}`)?.pop() === undefined) found.push({ invariant: 'L0', what: `nobody sent ${id}` });
    const charged = ended.some(({ as }) => as === 'committed');
    if (handed !== undefined && charged !== handed.has(id)) {
      found.push({ invariant: 'L2', what: `${id}, broken off, was ${charged ? 'charged and never' : 'not charged though'} handed over` });
    }
  }
  return found;
}
