// The kept usage of a deleted team in Redis, read and written whole (lua/erase.lua, lua/kept.lua).
import type { LooseUsage } from '../../ports/store-contents.ts';
import { keyDays } from './key-days.ts';
import type { RedisWords } from './keyspace.ts';
import { packClosed, packDays, packKey } from './packed-team.ts';
import { readClosed } from './period-record.ts';
import { ONLY_USAGE_KEY, teamKeys } from './redis-keys.ts';
import { fieldsOf, readKey } from './team-codec.ts';
import { BOOKS, packPlan, readKeyState, readPlan } from './team-layout.ts';

/** What is left of a team is read from these. */
export const KEPT_PARTS = ['team', 'keys', 'days', 'periods'] as const;
/** The field `erasure` of a team of which only the usage is left. */
const ONLY_USAGE_LEFT = '3';

/** `hashes` in the order of `KEPT_PARTS`. */
export function readKept(teamId: string, hashes: readonly unknown[]): LooseUsage {
  const [team, records, stored, closed] = hashes.map(fieldsOf) as [Fields, Fields, Fields, Fields];
  const ordered = [...records].map(([keyId, record]) => [keyId, String(record)] as const);
  const keys = ordered
    .toSorted(([, one], [, other]) => Number.parseInt(one, 10) - Number.parseInt(other, 10))
    .map(([keyId, record]) => readKey({ keyId, teamId }, record, { state: undefined, packedLimits: undefined }, 0))
    .map(({ keyId, mode, createdAtMs }) => ({ keyId, mode, createdAtMs }));
  const days = keys.flatMap(({ keyId }) => {
    const state = team.get(`k${keyId}`);
    return keyDays(stored.get(keyId), state && readKeyState(state)).map(({ day, characters, requests }) => ({
      day,
      keyId,
      characters,
      requests,
    }));
  });
  const periods = [...closed].map(([number, record]) => readClosed(Number(number), record));
  const currency = String(team.get('currency'));
  return {
    kind: 'usage',
    teamId,
    createdAtMs: Number(String(team.get('created'))),
    plan: String(team.get('plan')),
    limits: { ...readPlan(team.get('erased_p')!), currency, period: String(team.get('period')) },
    keys,
    days,
    periods: periods.toSorted((one, other) => one.number - other.number).map(({ closed: _closed, ...period }) => period),
  };
}

type Fields = ReadonlyMap<string, Buffer>;

export function keptCommands({ teamId, createdAtMs, plan, limits, keys, days, periods }: LooseUsage): RedisWords[] {
  const names = teamKeys(teamId);
  const number = Math.max(1, ...periods.map((one) => one.number + 1));
  const books = BOOKS.pack({ number, startMs: 0, endMs: 0, usedCharacters: 0, balanceMicro: 0 });
  const texts = ['created', String(createdAtMs), 'period', limits.period, 'currency', limits.currency, 'plan', plan, 'uses', '0'];
  const commands: RedisWords[] = [
    ['HSET', names.team, ...texts, 'erased_p', packPlan(limits), 'erased_b', books, 'erasure', ONLY_USAGE_LEFT],
    ['ZADD', ONLY_USAGE_KEY, '0', teamId],
  ];
  for (const [order, key] of keys.entries()) {
    const { keyId, mode, createdAtMs: madeAtMs } = key;
    const unused = { ...key, display: '', label: '', status: 'revoked', limits: {}, lastUsedAtMs: undefined } as const;
    const whole = { ...unused, digest: undefined, characters: 0, requests: 0, heldCharacters: undefined, window: [] };
    const json = JSON.stringify({ display: '', label: '', mode });
    commands.push(['HSET', names.keys, keyId, `${order} ${madeAtMs} ${json}`]);
    const own = days.filter((one) => one.keyId === keyId);
    if (own.length === 0) continue;
    commands.push(['HSET', names.team, `k${keyId}`, packKey(whole, number)], ['HSET', names.days, keyId, packDays(whole, number, own)]);
  }
  for (const one of periods) commands.push(['HSET', names.periods, String(one.number), packClosed(one)]);
  return commands;
}
