// Lua files state what they use of each other: what is missing, superfluous or wrong is an error that names file and name.
import { describe, expect, test } from 'vitest';
import { functionLibrary, libraryFiles } from '../../../../src/stores/redis/functions.ts';
import { wrongInLuaFiles } from '../../../../src/stores/redis/lua-check.ts';
import { inOneScope, inOrder, luaFile } from '../../../../src/stores/redis/lua-files.ts';
import type { LuaFiles } from '../../../../src/stores/redis/lua-files.ts';
import { luaNames } from '../../../../src/stores/redis/lua-names.ts';

const filesOf = (texts: Readonly<Record<string, string>>): LuaFiles =>
  new Map(Object.entries(texts).map(([name, text]) => [name, luaFile(name, text)]));

const WINDOW =
  '--@ gives taken, take\nlocal taken, limit = 0, 5\nlocal function take()\n  taken = taken < limit and taken + 1 or taken\nend\n';
const ADMIT = '--@ uses window: take\n--@ changes window: taken\nfunction admit_it()\n  take()\n  taken = 0\nend\nlocal _ = admit_it\n';

/** What is wrong with these two files, with something replaced in each. */
const wrongWith = (inWindow: readonly [string, string], inAdmit: readonly [string, string] = ['', '']): string[] =>
  wrongInLuaFiles(filesOf({ window: WINDOW.replace(...inWindow), admit: ADMIT.replaceAll('admit_it', 'redis.it').replace(...inAdmit) }));
const SAME = ['', ''] as const;

describe('the Lua files of the functions', () => {
  test('state exactly what they use, change and give', () => {
    const files = libraryFiles();
    expect(files.size).toBeGreaterThan(20);
    expect(wrongInLuaFiles(files)).toEqual([]);
  });

  test('that do what they state are right', () => {
    expect(wrongWith(SAME)).toEqual([]);
  });

  test.each<readonly [string, string[], string]>([
    [
      'a name that is used but not stated',
      wrongWith(SAME, ['--@ uses window: take\n', '']),
      'lua/admit.lua, line 3: "take" is used but not stated: state "--@ uses window: take"',
    ],
    [
      'a name that no file gives',
      wrongWith(SAME, ['taken = 0', 'taken = late']),
      'lua/admit.lua, line 5: "late" is used but not stated: no file gives it',
    ],
    [
      "another file's own name",
      wrongWith(SAME, ['taken = 0', 'taken = limit']),
      'lua/admit.lua, line 5: "limit" is used but not stated: no file gives it',
    ],
    [
      'a name that is stated but not used',
      wrongWith(SAME, ['  take()\n', '']),
      'lua/admit.lua states that it uses "take" of "window", but does not',
    ],
    [
      'a name that is changed but not stated so',
      wrongWith(SAME, ['changes', 'uses']),
      'lua/admit.lua: "taken" of "window" is assigned: state "--@ changes window: taken"',
    ],
    [
      'a name that is stated as changed but only read',
      wrongWith(SAME, ['taken = 0', 'return taken']),
      'lua/admit.lua: "taken" of "window" is not assigned: state "--@ uses window: taken"',
    ],
    [
      'a name that is given but not declared',
      wrongWith(['local function take', 'function take']),
      'lua/window.lua gives "take", but declares no such local variable',
    ],
    [
      'a name that is declared only in a block',
      wrongWith(['local function take()', 'do local take end\nfunction redis.take()']),
      'lua/window.lua gives "take", but declares no such local variable',
    ],
    [
      'a name that is given but never used',
      wrongWith(['gives taken', 'gives limit, taken']),
      'lua/window.lua gives "limit", which no other file uses',
    ],
  ])('%s is an error', (_, wrong, message) => {
    expect(wrong).toContain(message);
  });

  test.each<readonly [string, Readonly<Record<string, string>>, string]>([
    ['a file that does not exist', { admit: '--@ uses windows: take\n' }, 'lua/admit.lua uses "windows", which is no file'],
    [
      'a name that the file does not give',
      { admit: '--@ uses window: limit\n', window: WINDOW },
      'lua/admit.lua uses "limit" of "window", which does not give it',
    ],
    ['a name that two files give', { admit: '--@ gives taken\n', window: WINDOW }, 'lua/window.lua and lua/admit.lua both give "taken"'],
    [
      'files in a circle',
      { admit: '--@ uses window: a\n--@ gives b\n', window: '--@ uses admit: b\n--@ gives a\n' },
      'Lua files use each other in a circle: admit > window > admit',
    ],
  ])('%s is an error also when they are put together at run time', (_, texts, message) => {
    expect(() => inOrder(filesOf(texts), Object.keys(texts))).toThrow(message);
  });

  test.each(['--@ uses take', '--@ gives', '--@ takes window: take', '--@ uses window: take,'])(
    'a statement such as %j is an error',
    (statement) => {
      expect(() => luaFile('admit', `${statement}\n`)).toThrow(`lua/admit.lua: "${statement}" must be "--@ gives NAME, …"`);
    },
  );

  test('that are no Lua are an error with the line', () => {
    expect(() => wrongWith(['take()\n', 'take(\n'])).toThrow('lua/window.lua, line 4: unexpected "="');
  });

  test('follow what they use, whatever order they are listed in', () => {
    const files = filesOf({ admit: ADMIT, window: WINDOW });
    expect(inOrder(files, ['admit']).map(({ name }) => name)).toEqual(['window', 'admit']);
  });

  test('see of each other only what is given', () => {
    const text = inOneScope(inOrder(filesOf({ admit: ADMIT, window: WINDOW }), ['admit']));
    expect(text).toContain('local taken, take\ndo\n');
    expect(text).toContain('local limit taken, limit = 0, 5\nfunction take()');
    expect(luaNames(text).declared).toEqual(new Set(['taken', 'take']));
  });

  test('have given constants inserted as values, but not in comments, texts or names of members', () => {
    const layout = "--@ gives SLOT, SLOT_ID, of\nlocal SLOT = '>I6'\nlocal SLOT_ID = 7\nlocal of = SLOT\n";
    const window = "--@ uses layout: SLOT, SLOT_ID, of\nredis.call('SLOT', SLOT, of.SLOT, SLOT_IDS, SLOT_ID) -- SLOT\n";
    const text = inOneScope(inOrder(filesOf({ layout, window }), ['window']));
    expect(text).toContain("redis.call('SLOT', '>I6', of.SLOT, SLOT_IDS, 7) -- SLOT\n");
    expect(text).toContain('local of\ndo\n');
  });

  test('are a library without any name that nothing declares', () => {
    const free = [...luaNames(functionLibrary().text.replace(/^#.*/, '')).free.keys()];
    const provided = ['_G', 'error', 'ipairs', 'next', 'pairs', 'pcall', 'select', 'setmetatable', 'tonumber', 'tostring', 'type'];
    expect(free.toSorted()).toEqual([...provided, 'math', 'redis', 'string', 'struct', 'table'].toSorted());
  });
});

describe('names in Lua', () => {
  test.each<readonly [string, readonly string[]]>([
    ['local a = a', ['a']],
    ['local function f() return f end', []],
    ['local f = function() return f end', ['f']],
    ['for i, v in pairs(i) do local _ = v end; x = i', ['pairs', 'i', 'x']],
    ['for i = 1, #list do i = i end', ['list']],
    ['repeat local done = go() until done', ['go']],
    ['while a do local a = 1 end', ['a']],
    ['if a then local b = 1 elseif b then return c else d() end', ['a', 'b', 'c', 'd']],
    ['x.y[z]:w(u).v = t', ['x', 'z', 'u', 't']],
    ['function m.n:o(p) return self, p, ... end', ['m']],
    ["local t = { a = b, [c] = d; e, f 'g' }", ['b', 'c', 'd', 'e', 'f']],
    ["-- a\n--[[ b\nc ]] local s = 'd\\'e' .. [[f\ng]] .. \"h\"; return -i ^ not j", ['i', 'j']],
    ['local a, b = 1\ndo local a = b end a = c.d.e', ['c']],
    ['(a or b).c = 0x1F + 1e-3', ['a', 'b']],
  ])('%j uses without declaring: %j', (text, free) => {
    expect(new Set(luaNames(text).free.keys())).toEqual(new Set(free));
  });

  test('know which are assigned, and where', () => {
    const { free } = luaNames('local a\na, b = c\nfunction d() end\nfunction e.f() end\n');
    expect(free).toEqual(
      new Map([
        ['b', { line: 2, isAssigned: true }],
        ['c', { line: 2, isAssigned: false }],
        ['d', { line: 3, isAssigned: true }],
        ['e', { line: 4, isAssigned: false }],
      ]),
    );
  });

  test.each(['local 1', 'if a then', 'a +', 'x = )', 'end', 'a ? b', 'f:g'])('%j is no Lua', (text) => {
    expect(() => luaNames(text)).toThrow(/^line 1: unexpected /);
  });
});
