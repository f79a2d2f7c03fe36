// The table of open reservations: each is found once, by id, however many there are and in whatever order they are added and removed.
import * as fc from 'fast-check';
import { ulid } from 'ulid';
import { expect, test } from 'vitest';
import { HeldReservations } from '../../../../src/stores/sqlite/request-ids.ts';
import type { Held } from '../../../../src/stores/sqlite/request-ids.ts';

const held = (characters: number): Held => ({ key: 1, characters, priceMicro: 0, periodNo: 1, ofAllowance: false });

/** Includes short ids and ids with equal endings. */
const ids = fc.constantFrom('', 'A', 'AAAA', 'BAAAA', 'CAAAA', ...Array.from({ length: 60 }, (_, number) => `ID${number}`));
const doings = fc.array(fc.tuple(fc.constantFrom('add', 'add', 'add', 'take', 'take', 'clear once in a while'), ids, fc.nat({ max: 40 })), {
  maxLength: 300,
});

test('it behaves like a map from which each id is taken once', () => {
  fc.assert(
    fc.property(doings, (drawn) => {
      const reservations = new HeldReservations();
      const model = new Map<string, Held>();
      for (const [doing, id, number] of drawn) {
        if (doing === 'take') {
          expect(reservations.take(id)).toBe(model.get(id));
          model.delete(id);
        } else if (doing === 'add' && !model.has(id)) {
          model.set(id, held(number));
          reservations.add(id, model.get(id)!);
        } else if (doing !== 'add' && number === 0) {
          model.clear();
          reservations.clear();
        }
      }
      for (const [id, left] of model) expect(reservations.take(id)).toBe(left);
      for (const id of model.keys()) expect(reservations.take(id)).toBeUndefined();
    }),
  );
});

test('ten thousand open reservations are all found', () => {
  const reservations = new HeldReservations();
  const open = Array.from({ length: 10_000 }, (_, number) => ({ id: ulid(), of: held(number) }));
  for (const { id, of } of open) reservations.add(id, of);
  expect(open.map(({ id }) => reservations.take(id))).toEqual(open.map(({ of }) => of));
});
