// The list of exchanges in flight keeps the order of arrival, whichever are removed.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Exchange, InFlight } from '../../../src/core/exchange.ts';
import type { Sink } from '../../../src/core/exchange.ts';
import { compileRoute } from '../../../src/core/route.ts';

const route = compileRoute({ method: 'GET', path: '/', takesBody: false, steps: [] });
const head = { method: 'GET', path: '/', query: '', headers: {} };
const sink: Sink = { send: () => 'written', stream: () => undefined, incoming: () => undefined, remoteAddress: () => '' };

function startedAt(ms: number): Exchange {
  return new Exchange(`at ${ms}`, head, sink, route, ms);
}

describe('exchanges in flight', () => {
  test('are listed oldest first, up to a time, like a set in insertion order', () => {
    const changes = fc.array(fc.oneof(fc.constant('add' as const), fc.nat(20)), { maxLength: 60 });
    fc.assert(
      fc.property(changes, fc.nat(60), (list, until) => {
        const flight = new InFlight();
        const model: Exchange[] = [];
        for (const [ms, change] of list.entries()) {
          if (change === 'add') {
            const x = startedAt(ms);
            model.push(x);
            flight.add(x);
          } else if (model.length > 0) {
            flight.remove(model.splice(change % model.length, 1)[0]!);
          }
        }
        expect(flight.size).toBe(model.length);
        expect(flight.startedBy(until).map(({ id }) => id)).toEqual(model.filter((x) => x.startedAtMs <= until).map(({ id }) => id));
      }),
    );
  });

  test('a removed one refers to no other, so that it does not keep its neighbours in memory', () => {
    const flight = new InFlight();
    const [first, second, third] = [startedAt(1), startedAt(2), startedAt(3)];
    for (const x of [first, second, third]) flight.add(x);
    flight.remove(second);
    expect([second.earlier, second.later]).toEqual([undefined, undefined]);
    expect([first.later, third.earlier]).toEqual([third, first]);
  });
});
