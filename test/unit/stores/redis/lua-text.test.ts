// Names in capitals stand for texts, all over a script: nothing is declared that a function would have to refer to.
import { expect, test } from 'vitest';
import { joinLua } from '../../../../src/stores/redis/lua-text.ts';
import { scriptText } from '../../../../src/stores/redis/scripts.ts';

test.each([
  ['a number', ['local A = 1', 'return A'], '\nreturn (1)'],
  ['a string, whatever is in it', ["local A = '(x, {y'", 'return A'], "\nreturn ('(x, {y')"],
  ['several on one line', ["local A, B_2, C = 'x', 2, 1 + 2", 'return A, B_2, C'], "\nreturn ('x'), (2), (1 + 2)"],
  ['one of another, whichever comes first', ['local A = B * 2', 'local B = 3', 'return A'], '\n\nreturn ((3) * 2)'],
  ['what stands in brackets', ['local A = 1', 'local B = (A + 2) * (A + 3)', 'return B'], '\n\nreturn (((1) + 2) * ((1) + 3))'],
  ['a rule, by the variables of its place', ['local TOO_LONG = n > most', 'return TOO_LONG'], '\nreturn (n > most)'],
  ['not what is part of another word', ['local A = 1', 'return A_B, x.AB, a'], '\nreturn A_B, x.AB, a'],
  ['not in strings and comments', ['local A = 1', "f('A', \"A\", '\\'A') -- A"], "\nf('A', \"A\", '\\'A') -- A"],
  ['not what is called or made', ["local A = f('x')", 'local B = {}', 'return A, B'], "local A = f('x')\nlocal B = {}\nreturn A, B"],
  ['not where it is not the beginning of a line', ['do', '  local A = 1', 'end'], 'do\n  local A = 1\nend'],
  ['not variables in small letters', ['local a = 1', 'return a'], 'local a = 1\nreturn a'],
])('%s', (_what, parts, expected) => {
  expect(joinLua(parts)).toBe(expected);
});

test("of the ledger's script, no constant is left that a function refers to", () => {
  const script = scriptText('ledger').replaceAll(/--.*|'[^'\n]*'/g, '');
  // Made once a call: the keys and arguments are Redis's.
  const variables = new Set(['KEYS', 'ARGV', 'WHOLE', 'RESOLVED']);
  const names = new Set(script.match(/(?<![\w.])[A-Z][A-Z0-9_]*\b/g));
  expect([...names].filter((name) => !variables.has(name))).toEqual([]);
});
