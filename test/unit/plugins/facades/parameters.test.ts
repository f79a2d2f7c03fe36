// One description of parameters: what reading, reference and the manual's table make of it.
import { refuse } from 'lingate';
import Type from 'typebox';
import { describe, expect, test } from 'vitest';
import { parameterTable, rowsOf } from '../../../../src/plugins/facades/parameter-table.ts';
import { isGiven, objectSchema, queryDocs, readAll } from '../../../../src/plugins/facades/parameters.ts';
import type { ParameterEntry } from '../../../../src/plugins/facades/parameters.ts';

interface Order {
  readonly from: string;
  readonly to: string;
}
interface Rules {
  readonly known: readonly string[];
}

const no = (detail: string) => refuse('validation_error', detail);
const code = (value: unknown, named: string, _order: Order, { known }: Rules) =>
  typeof value === 'string' && known.includes(value) ? { sound: value } : no(`${named}: is no code`);

const ENTRIES: readonly ParameterEntry<Order, Rules>[] = [
  { name: 'to', does: 'served', means: 'to', about: 'The target.', missing: (named) => no(`${named}: is missing`), read: code },
  { name: 'from', does: 'served', means: 'from', about: 'The source.', example: 'en', read: code },
  { check: ({ from, to }) => (from === to ? no('to: is the source') : undefined) },
  { name: 'model', does: 'nothing', about: 'Of no effect.', faultOf: (value, named) => (value === 'x' ? no(`${named}: is x`) : undefined) },
  { name: 'extra', does: 'refused', about: '`false` only.', but: ['false'], refusal: (named) => no(`${named}: is not here`) },
  { name: 'never', does: 'refused', about: 'Refused.', refusal: (named) => no(`${named}: never`) },
  {
    name: 'more',
    does: 'nothing',
    about: 'A list.',
    entriesMax: 2,
    fields: [{ name: 'one', does: 'nothing', about: 'A | B.', schema: Type.Integer() }],
  },
];

function read(members: object, at = ''): Order | string {
  const order: Order = { from: 'auto', to: '' };
  return readAll(ENTRIES, new Map(Object.entries(members)), order, { known: ['de', 'en'] }, at)?.problem.detail ?? order;
}

describe('reading', () => {
  test('puts what is given into the order, and keeps its values for the rest', () => {
    expect(read({ to: 'de' })).toEqual({ from: 'auto', to: 'de' });
    expect(read({ to: 'de', from: 'en', model: 'y', extra: 'FALSE', more: [{ one: 1 }] })).toEqual({ from: 'en', to: 'de' });
    expect(read({ to: 'de', extra: false })).toEqual({ from: 'auto', to: 'de' });
  });

  test.each([
    [{}, 'to: is missing'],
    [{ to: '', from: 'xx' }, 'to: is missing'],
    [{ to: 'xx', from: 'xx' }, 'to: is no code'],
    [{ to: 'de', from: 'de', model: 'x' }, 'to: is the source'],
    [{ to: 'de', model: 'x', extra: 1 }, 'model: is x'],
    [{ to: 'de', extra: true }, 'extra: is not here'],
    [{ to: 'de', extra: ['false'] }, 'extra: is not here'],
    [{ to: 'de', never: 0 }, 'never: never'],
  ])('%j is refused by the first that is wrong', (members, detail) => {
    expect(read(members)).toBe(detail);
  });

  test('a refusal names the parameter with its place', () => {
    expect(read({ to: 'xx' }, 'inputs[0].targets[1].')).toBe('inputs[0].targets[1].to: is no code');
  });

  test('what clients send for a parameter that they do not use counts as absent', () => {
    for (const value of [undefined, null, '', [], ['', ''], {}]) {
      expect([value, isGiven(value)]).toEqual([value, false]);
      expect(read({ to: 'de', never: value })).toEqual({ from: 'auto', to: 'de' });
    }
    for (const value of [0, false, ['', 'a'], { a: '' }, [null]]) expect([value, isGiven(value)]).toEqual([value, true]);
  });
});

test('the reference has all parameters but those that are always refused', () => {
  expect(queryDocs(ENTRIES).map(({ name, required = false }) => [name, required])).toEqual([
    ['to', true],
    ['from', false],
    ['model', false],
    ['extra', false],
    ['more', false],
  ]);
  expect(JSON.parse(JSON.stringify(objectSchema(ENTRIES)))).toMatchObject({
    required: ['to'],
    properties: {
      from: { type: 'string', description: 'The source.' },
      more: { type: 'array', maxItems: 2, items: { properties: { one: { type: 'integer', description: 'A | B.' } } } },
    },
  });
});

test('the table has every parameter with its place and what it does', () => {
  expect(rowsOf(ENTRIES).map(({ name, does }) => [name, does])).toEqual([
    ['to', 'served'],
    ['from', 'served'],
    ['model', 'without effect'],
    ['extra', 'refused, except `false`'],
    ['never', 'refused'],
    ['more', 'without effect'],
    ['more[].one', 'without effect'],
  ]);
  const lines = parameterTable([{ api: 'Us', parameters: ENTRIES, others: 'refused' }]).split('\n');
  expect(lines[0]).toBe('## Us');
  expect(lines.slice(-2)).toEqual(['| `more[].one` | without effect | A \\| B. |', '| any other | refused | |']);
  const [first] = ENTRIES;
  const alike = parameterTable([{ api: 'Us', parameters: [first!, { ...first!, name: 'too' }], others: 'refused' }]);
  expect(alike).toContain('\n| `to`, `too` | served |');
});
