// A key's usage by day, decoded from the bytes that lua/days.lua writes.
import type { KeyDay } from '../../ports/usage-history.ts';
import { ROWS } from './row-formats.ts';
import type { KeyState } from './team-layout.ts';

type CountedDay = Omit<KeyDay, 'keyId'>;

const { DAYS } = ROWS;
type CountedDays = Pick<KeyState, 'number' | 'characters' | 'requests'>;

const SEVEN_BITS = 128;

/** In order. `packed` is the key's field of `:days`, `state` its field of the team. */
export function keyDays(packed: Buffer | undefined, state: KeyState | undefined): readonly CountedDay[] {
  if (packed === undefined) return [];
  const head = DAYS.read(packed);
  const days = listedDays(packed, head.before);
  const newest = state === undefined ? undefined : newestDay(head, state);
  if (newest === undefined) return days;
  // A clock that went back may have left the newest day among the others.
  const index = days.findIndex(({ day }) => day >= newest.day);
  if (index === -1) return [...days, newest];
  const { day, characters, requests } = days[index]!;
  if (day > newest.day) return days.toSpliced(index, 0, newest);
  return days.with(index, { day, characters: characters + newest.characters, requests: requests + newest.requests });
}

/** What the key's record has counted since the header; the same as `days.close` adds. */
function newestDay(head: CountedDays, { number, characters, requests, day }: KeyState): CountedDay | undefined {
  const counted = head.number === number ? head : { characters: 0, requests: 0 };
  if (requests <= counted.requests) return undefined;
  return { day: Math.max(1, day), characters: characters - counted.characters, requests: requests - counted.requests };
}

function listedDays(packed: Buffer, before: number): CountedDay[] {
  const days: CountedDay[] = [];
  let at = DAYS.bytes;
  let day = before;
  const next = (): number => {
    let number = 0;
    for (let unit = 1; ; unit *= SEVEN_BITS) {
      const byte = packed[at++]!;
      number += (byte % SEVEN_BITS) * unit;
      if (byte < SEVEN_BITS) return number;
    }
  };
  while (at < packed.length) {
    day += next();
    days.push({ day, characters: next(), requests: next() });
  }
  return days;
}
