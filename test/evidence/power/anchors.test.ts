// Where a planted bug belongs is found by the declaration that it names, whatever moved around it, and what is lost is explained.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freshFolder, written } from '../../support/written-file.ts';
import { Anchors } from './anchors.ts';

const TS = `// if (a === b) return 'no';
export class Queue {
  // if (a === b) return 'no';
  push(a: string, b: string): string {
    /* why */
    if (
      a === // this or that
      b
    )
      return 'no';
    return call(
      a,
      \`// \${b}\`,
    );
  }
}
export const queue = { push: () => 1, limits: { most: 5 } };
export const other = { limits: {} };
`;
const LUA = `local MOST = 5 -- MOST = 6
local function push(a)
  if a then -- end
    return 'end'
  end
end
function functions.drop() return MOST end
`;

function found(where: string, find: string): string {
  const root = freshFolder();
  const src = join(root, 'src');
  mkdirSync(src);
  const texts = new Map([
    ['src/queue.ts', TS],
    ['src/queue.lua', LUA],
  ]);
  for (const [file, text] of texts) written(text, file.slice('src/'.length), src);
  const place = new Anchors(root).find({ where, find, replace: '' });
  return typeof place === 'string' ? place : `${place.file}: ${texts.get(place.file)!.slice(place.start, place.end)}`;
}

test.each([
  ['Queue.push', "if (a === b) return 'no';", `src/queue.ts: if (\n      a === // this or that\n      b\n    )\n      return 'no';`],
  ['Queue.push', 'call(a, `// ${b}`)', 'src/queue.ts: call(\n      a,\n      `// ${b}`,\n    )'],
  ['queue.push', '1', 'src/queue.ts: 1'],
  ['limits.most', 'most: 5,', 'src/queue.ts: most: 5'],
  ['push in queue.lua', "return 'end' end", "src/queue.lua: return 'end'\n  end"],
  ['functions.drop', 'MOST', 'src/queue.lua: MOST'],
  ['MOST', 'local MOST = 5', 'src/queue.lua: local MOST = 5'],
])('in %s, %s', (where, find, place) => {
  expect(found(where, find)).toBe(place);
});

test.each([
  ['Queue.pop', 'a', 'nothing in src is called Queue.pop'],
  ['Stack.push', 'a', 'nothing in src is called Stack.push; there is push in src/queue.lua'],
  [
    'Queue.push',
    'if (a === c) return',
    'Queue.push (src/queue.ts:4) lacks: if (a === c) return\n  and has at line 6: if (\n      a === // this or that\n      b\n    )\n      return',
  ],
  ['Queue.push', 'throw', 'Queue.push (src/queue.ts:4) lacks: throw\n  and has nothing like it'],
  ['Queue.push', 'return', 'Queue.push (src/queue.ts:4) has this 2 times: return'],
])('what is lost in %s, %s', (where, find, fault) => {
  expect(found(where, find)).toBe(fault);
});

test('a name that several declarations have is said with all of them', () => {
  expect(found('limits', 'most')).toBe(
    'limits is the name of 2 declarations, at src/queue.ts:17 and src/queue.ts:18; name a class, an outer function or a file (name in file.ts)',
  );
});
