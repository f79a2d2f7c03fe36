// Compares what Lua files state (lua-files.ts) with the names in them; for the build and tests, not needed at run time.
import { LuaFileError, inOrder } from './lua-files.ts';
import type { LuaFile, LuaFiles } from './lua-files.ts';
import { luaNames } from './lua-names.ts';
import type { LuaNames } from './lua-names.ts';

/** What Redis and Lua provide, and what a call sets. */
const PROVIDED = new Set(
  'KEYS ARGV _G error ipairs next pairs pcall select setmetatable tonumber tostring type cjson math redis string struct table'.split(' '),
);

/**
 * A sentence for each error, with file and name: used but not stated, stated but not used, changed but not stated so or the reverse,
 * given but not declared, given but used by no other file. Throws `LuaFileError` for what `inOrder` finds.
 */
export function wrongInLuaFiles(files: LuaFiles): string[] {
  const sources = inOrder(files, [...files.keys()]);
  const givenBy = new Map(sources.flatMap(({ name, gives }) => gives.map((one) => [one, name])));
  const used = new Set(sources.flatMap(({ uses }) => uses.map(({ name }) => name)));
  return sources.flatMap((file) => [
    ...wrongInOne(file, namesOf(file), givenBy),
    ...file.gives.filter((one) => !used.has(one)).map((one) => `lua/${file.name}.lua gives "${one}", which no other file uses`),
  ]);
}

function namesOf({ name, text }: LuaFile): LuaNames {
  try {
    return luaNames(text);
  } catch (error) {
    throw error instanceof SyntaxError ? new LuaFileError(`lua/${name}.lua, ${error.message}`) : error;
  }
}

function wrongInOne({ name, gives, uses }: LuaFile, { free, declared }: LuaNames, givenBy: ReadonlyMap<string, string>): string[] {
  const where = `lua/${name}.lua`;
  const wrong: string[] = [];
  const stated = new Map(uses.map((use) => [use.name, use]));
  for (const [one, { line, isAssigned }] of free) {
    const use = stated.get(one);
    const verb = isAssigned ? 'changes' : 'uses';
    if (use === undefined && !PROVIDED.has(one)) {
      const giver = givenBy.get(one);
      const advice = giver === undefined ? 'no file gives it' : `state "--@ ${verb} ${giver}: ${one}"`;
      wrong.push(`${where}, line ${line}: "${one}" is used but not stated: ${advice}`);
    } else if (use !== undefined && use.isChanged !== isAssigned)
      wrong.push(`${where}: "${one}" of "${use.from}" is ${isAssigned ? '' : 'not '}assigned: state "--@ ${verb} ${use.from}: ${one}"`);
  }
  for (const { name: one, from } of uses)
    if (!free.has(one)) wrong.push(`${where} states that it uses "${one}" of "${from}", but does not`);
  for (const one of gives) if (!declared.has(one)) wrong.push(`${where} gives "${one}", but declares no such local variable`);
  return wrong;
}
