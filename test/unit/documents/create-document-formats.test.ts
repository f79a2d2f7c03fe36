// The thread of a file: it may hang, die or take too much memory, while the event loop goes on and other files wait their turn.
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import process from 'node:process';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { createDocumentFormats } from '../../../src/documents/create-document-formats.ts';
import type { DocumentFormatsOptions } from '../../../src/documents/create-document-formats.ts';
import type { DocumentFormats, Extracted } from '../../../src/documents/formats.ts';

const FAULTY = new URL('../../support/documents/faulty-worker.js', import.meta.url);
const READING = new URL('../../support/documents/reading-worker.js', import.meta.url);
const open: DocumentFormats[] = [];

afterEach(async () => {
  for (const formats of open.splice(0)) await formats.close();
});

function opened(options: DocumentFormatsOptions): DocumentFormats {
  const formats = createDocumentFormats(options);
  open.push(formats);
  return formats;
}

function extract(formats: DocumentFormats, content: string, name = 'a.txt'): Promise<Extracted> {
  return formats.extract(formats.formatOf(name)!, Buffer.from(content));
}

/** Of this process's threads, by their ids. */
function priorities(): ReadonlyMap<string, number> {
  const niceness = (thread: string): number => {
    const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'latin1');
    // Its state is the third, its nice value the nineteenth field; the name before may have spaces.
    return Number(stat.slice(stat.lastIndexOf(') ') + 2).split(' ')[16]);
  };
  return new Map(readdirSync('/proc/self/task').map((thread) => [thread, niceness(thread)]));
}

const refused = (reason: string): Extracted => ({ kind: 'refused', reason });
const letter = (text: string): Extracted => ({ kind: 'extracted', texts: [{ text, format: 'text' }] });

describe('the thread that reads a document', () => {
  test('is ended when it takes too long, while the event loop goes on, and the next files are read in order', async () => {
    const formats = opened({ worker: FAULTY, timeMs: 1_000 });
    const results: Extracted[] = [];
    const all = ['a', 'h', 'b', 'c'].map(async (content) => void results.push(await extract(formats, content)));
    let turns = 0;
    while (results.length < 4) {
      await turn();
      turns++;
    }
    await Promise.all(all);
    expect(results).toEqual([letter('a'), refused('reading the file takes longer than 1 seconds'), letter('b'), letter('c')]);
    expect(turns).toBeGreaterThan(100);
  });

  test('is ended when it takes too much memory', async () => {
    const formats = opened({ worker: FAULTY, memoryMiB: 16, timeMs: 100_000 });
    expect(await extract(formats, 'm')).toEqual(refused('the file needs too much memory to be read'));
    expect(await extract(formats, 'a')).toEqual(letter('a'));
  });

  test.each([
    ['txt', 'a\n\n'],
    ['html', '<p>a'],
    ['html', '<p title=a>'],
    ['srt', '0:01:00.0 --> 0:01:00.0\na\n\n'],
  ])('ends with the limit of texts for a file of %s with far more, not with its memory', async (ending, text) => {
    const formats = opened({ worker: READING, timeMs: 1_000_000 });
    const file = text.repeat(3_000_000).slice(0, 29 * 1_048_576);
    expect(await extract(formats, file, `a.${ending}`)).toEqual(refused('the file has more than 200,000 texts'));
  });

  test.each(['e', 't'])('may die (%s), which is told without words of the file', async (content) => {
    const faults: string[] = [];
    const formats = opened({ worker: FAULTY, onFault: (words) => faults.push(words), timeMs: 100_000 });
    expect(await extract(formats, content)).toEqual(refused('the file cannot be read'));
    expect(await extract(formats, 'a')).toEqual(letter('a'));
    expect(faults).toHaveLength(1);
    expect(faults.join()).not.toContain('secret');
  });

  test.runIf(process.platform === 'linux')('goes behind the event loop', async () => {
    const own = getPriority();
    const before = priorities();
    const reading = extract(opened({ timeMs: 100_000 }), 'a\n\n'.repeat(20_000));
    const begun = () => [...priorities()].filter(([thread]) => !before.has(thread)).map(([, priority]) => priority);
    await expect.poll(begun, { interval: 5, timeout: 30_000 }).toContain(Math.max(10, own));
    await reading;
    expect(getPriority()).toBe(own);
  });

  test('refuses what waits when it is closed, and what comes later', async () => {
    const formats = opened({ worker: FAULTY, timeMs: 100_000 });
    const waiting = ['h', 'a'].map((content) => extract(formats, content));
    await formats.close();
    const stopping = refused('the gateway is stopping');
    expect(await Promise.all([...waiting, extract(formats, 'a')])).toEqual([stopping, stopping, stopping]);
  });

  test('sends long lists in parts, in both directions, and leaves the caller its bytes', async () => {
    const formats = opened({ timeMs: 100_000 });
    const texts = Array.from({ length: 5000 }, (_, index) => `text ${index}`);
    const source = texts.join('\n\n');
    const bytes = Buffer.from(source);
    const format = formats.formatOf('a.txt')!;
    const found = await formats.extract(format, bytes);
    // As text: comparing 5,000 objects one by one takes seconds.
    expect(JSON.stringify(found)).toBe(JSON.stringify({ kind: 'extracted', texts: texts.map((text) => ({ text, format: 'text' })) }));
    const built = await formats.build(
      format,
      bytes,
      texts.map((text) => `${text}!`),
    );
    expect(built.kind === 'built' && Buffer.from(built.bytes).toString()).toBe(texts.map((text) => `${text}!`).join('\n\n'));
    expect(bytes.toString()).toBe(source);
    expect(await formats.build(format, bytes, ['a'])).toEqual(refused('the file has 5000 texts, and 1 translations were given'));
    expect(await formats.build(format, bytes, [])).toEqual(refused('the file has 5000 texts, and 0 translations were given'));
  });
});
