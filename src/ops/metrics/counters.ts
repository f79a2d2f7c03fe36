// The counters of a running gateway: names, labels and every series, present from the start.
import type { Registry } from 'prom-client';
import type { KeyLookup } from '../../ports/key-directory.ts';
import type { Admission, Verdict, SettlementResult } from '../../ports/ledger.ts';
import type { ShedReason } from '../../ports/pressure.ts';
import { FastCounter } from './fast-counter.ts';
import type { CounterSeries } from './fast-counter.ts';

// The sets below are spelled out so that every series is present from the start: if a series only appeared with the first failure,
// its rate would not include that failure. The compiler compares them with the ports.

export function admissionSeries(registry: Registry): Readonly<Record<Admission['kind'], CounterSeries>> {
  const counter = new FastCounter({ name: 'lingate_admissions_total', help: 'Admissions by result.', labels: ['result'], registry });
  return counter.seriesBy<Admission['kind']>('result', {
    admitted: true,
    repeated: true,
    key_unknown: true,
    key_revoked: true,
    address_wanted: true,
    address_refused: true,
    rate_limited: true,
    text_too_long: true,
    glossary_missing: true,
    glossary_mismatch: true,
    quota_exceeded: true,
    credit_exhausted: true,
    unavailable: true,
  });
}

export function lookupSeries(registry: Registry): Readonly<Record<KeyLookup, CounterSeries>> {
  const counter = new FastCounter({
    name: 'lingate_key_lookups_total',
    help: 'Key lookups: hit and unknown_hit were answered by the cache, miss by the store; refused were not made (too many at once).',
    labels: ['result'],
    registry,
  });
  return counter.seriesBy<KeyLookup>('result', { hit: true, unknown_hit: true, miss: true, refused: true });
}

export function restoredSeries(registry: Registry): CounterSeries {
  const help = "Revocations that the store's new master had lost and that were applied again.";
  return new FastCounter({ name: 'lingate_revocations_restored_total', help, labels: [], registry }).series({});
}

export function shedSeries(registry: Registry): Readonly<Record<ShedReason, CounterSeries>> {
  const counter = new FastCounter({
    name: 'lingate_requests_shed_total',
    help: 'Requests refused because of load: too many in flight in this process or of one team, or an overloaded event loop.',
    labels: ['reason'],
    registry,
  });
  return counter.seriesBy<ShedReason>('reason', { concurrency: true, team_concurrency: true, loop_delay: true });
}

export function settlementSeries(registry: Registry): Readonly<Record<Verdict, Readonly<Record<SettlementResult, CounterSeries>>>> {
  const counter = new FastCounter({
    name: 'lingate_settlements_total',
    help: "Reservations settled, by verdict and the ledger's result; a commit that is expired or abandoned was delivered uncharged.",
    labels: ['verdict', 'result'],
    registry,
  });
  const of = (verdict: Verdict): Record<SettlementResult, CounterSeries> => ({
    committed: counter.series({ verdict, result: 'committed' }),
    released: counter.series({ verdict, result: 'released' }),
    expired: counter.series({ verdict, result: 'expired' }),
    absent: counter.series({ verdict, result: 'absent' }),
    abandoned: counter.series({ verdict, result: 'abandoned' }),
  });
  return { commit: of('commit'), release: of('release') };
}
