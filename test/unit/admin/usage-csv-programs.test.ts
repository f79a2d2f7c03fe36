// Usage exports as other programs read them: Python's csv and sqlite3 get every line and the same numbers, whatever names, labels,
// references and tags are, and no cell begins as a formula.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { csvOf } from '../../../src/admin/csv.ts';
import { usageColumns } from '../../../src/admin/operations/usage.ts';
import type { UsageRow } from '../../../src/admin/operations/usage.ts';
import { outputOf } from '../../support/start-program.ts';

const TEXTS = ['=1+1', '+cmd|x', '-2', '@SUM(A1)', '\t=1', '\r=1', 'a, "b"', 'a;=1', 'two\r\nlines', 'Ünï 翻訳', "O'Brien", ' space ', ''];
const KEY = { key_id: '01JD3Q7V6Y8Z0XKQ4T5N2M9HRD', display: 'la_live_Ab3d', mode: 'live' } as const;

const ofTeam = (text: string, index: number): UsageRow => ({
  team_id: '01JD3Q7V6Y8Z0XKQ4T5N2M9HRC',
  name: text,
  plan: 'pro',
  date: '2026-11-22',
  character_count: 1_000_000_007 + index,
  request_count: index,
  test_character_count: 3,
  reference: text,
});

const FORMS = {
  'of teams': { asked: { keys: false }, row: ofTeam, texts: ['name', 'reference'] },
  'of keys': {
    asked: { keys: true },
    row: (text: string, index: number): UsageRow => ({ ...ofTeam(text, index), ...KEY, label: text }),
    texts: ['name', 'reference', 'label'],
  },
  'of tags': {
    asked: { keys: false, tags: true },
    row: (text: string, index: number): UsageRow => ({ ...ofTeam(text, index), tag: text === '' ? null : text }),
    texts: ['name', 'reference', 'tag'],
  },
} as const;

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'lingate-usage-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe.each(Object.entries(FORMS))('%s', (_name, { asked, row, texts }) => {
  const rows = TEXTS.map(row);

  function file(): string {
    const path = join(folder, 'usage.csv');
    const { head, lines } = csvOf(usageColumns(asked));
    writeFileSync(path, head + lines(rows));
    return path;
  }

  test("Python's csv reads every line, and no cell begins as a formula", async () => {
    const script = 'import csv, json, sys; print(json.dumps(list(csv.DictReader(open(sys.argv[1], newline="", encoding="utf-8")))))';
    const read = JSON.parse(await outputOf('python3', ['-c', script, file()], { cwd: folder })) as Record<string, string>[];
    const bare = (text: string | undefined): string | undefined => text?.replaceAll("'", '');
    for (const name of texts) expect(read.map((cells) => bare(cells[name]))).toEqual(TEXTS.map(bare));
    expect(read.flatMap((cells) => Object.values(cells)).filter((cell) => /^\s*[=+\-@\t\r]/.test(cell))).toEqual([]);
    for (const name of ['character_count', 'request_count'] as const)
      expect(read.map((cells) => cells[name])).toEqual(rows.map((one) => String(one[name])));
    expect(read.map((cells) => cells['test_character_count'])).toEqual(rows.map(() => ('tags' in asked ? undefined : '3')));
  });

  test('sqlite3 imports it, and adds it up', async () => {
    const sums = 'SELECT count(*), sum(character_count), sum(request_count) FROM usage;';
    const added = await outputOf('sqlite3', [':memory:', '.mode csv', `.import ${file()} usage`, sums], { cwd: folder });
    const sum = (name: 'character_count' | 'request_count'): number => rows.reduce((total, one) => total + one[name], 0);
    expect(added.trim()).toBe([rows.length, sum('character_count'), sum('request_count')].join(','));
  });
});
