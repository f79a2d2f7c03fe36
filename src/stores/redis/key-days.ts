// A key's usage by day, decoded from the bytes that lua/days.lua writes.
import { readWide } from './team-layout.ts';
import type { KeyState } from './team-layout.ts';

export interface CountedDay {
  readonly day: number;
  readonly characters: number;
  readonly requests: number;
}

/** The header. */
interface DaysHead {
  /** The period, characters and requests of the key's record that the days already include. */
  readonly number: number;
  readonly characters: number;
  readonly requests: number;
  /** The day before the first one. */
  readonly before: number;
}

const HEAD_BYTES = 26;
const SEVEN_BITS = 128;

/** In order. `packed` is the key's field of `:days`, `state` its field of the team. */
export function keyDays(packed: Buffer | undefined, state: KeyState | undefined): readonly CountedDay[] {
  if (packed === undefined) return [];
  const head = readHead(packed);
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
function newestDay(head: DaysHead, { number, characters, requests, day }: KeyState): CountedDay | undefined {
  const counted = head.number === number ? head : { characters: 0, requests: 0 };
  if (requests <= counted.requests) return undefined;
  return {
    day: Math.max(1, day),
    characters: characters - counted.characters,
    requests: requests - counted.requests,
  };
}

function readHead(packed: Buffer): DaysHead {
  return {
    number: packed.readUInt32BE(0),
    characters: readWide(packed, 4),
    requests: packed.readUIntBE(11, 6),
    before: packed.readUIntBE(17, 3),
  };
}

function listedDays(packed: Buffer, before: number): CountedDay[] {
  const days: CountedDay[] = [];
  let at = HEAD_BYTES;
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
