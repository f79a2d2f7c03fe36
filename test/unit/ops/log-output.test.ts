// The log's standard output: order, chunks, full disks, and readers that stall or leave.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LogOutput } from '../../../src/ops/log-output.ts';

type Done = (error: NodeJS.ErrnoException | null, written: number) => void;

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
});

afterEach(() => {
  vi.useRealTimers();
});

/** A file descriptor whose writes end as the test decides. */
class Descriptor {
  readonly failures: string[] = [];
  readonly output = new LogOutput(1, 8, ({ code }) => this.failures.push(code!), {
    write: (_fd, bytes, done) => {
      expect(this.#done).toBeUndefined();
      this.offered = bytes;
      this.#done = done;
    },
    writeSync: (_fd, bytes) => {
      this.onTry?.();
      const error = this.syncErrors.shift();
      if (error !== undefined) throw failure(error);
      return this.#take(bytes, this.syncBytes);
    },
  });
  taken = '';
  onTry: (() => void) | undefined;
  offered: Buffer | undefined;
  syncErrors: string[] = [];
  syncBytes = Infinity;
  #done: Done | undefined;

  /** The write in the background ends after this many bytes; with all of them, the pause passes in which lines are gathered. */
  succeed(bytes = Infinity): void {
    this.end(bytes);
    if (this.offered === undefined && vi.isFakeTimers()) vi.advanceTimersByTime(10);
  }

  end(bytes = Infinity): void {
    const done = this.#done!;
    this.#done = undefined;
    const written = this.#take(this.offered!, bytes);
    this.offered = undefined;
    done(null, written);
  }

  fail(code: string): void {
    const done = this.#done!;
    this.#done = undefined;
    this.offered = undefined;
    done(failure(code), 0);
  }

  succeedAll(): void {
    while (this.offered !== undefined) this.succeed();
  }

  #take(bytes: Buffer, at: number): number {
    const taken = bytes.subarray(0, at);
    this.taken += taken.toString();
    return taken.length;
  }
}

const failure = (code: string): NodeJS.ErrnoException => Object.assign(new Error(code), { code });
const lost = (lines: number, time: string): string => `{"level":"warn","time":"${time}","lines":${lines},"msg":"log lines were lost"}\n`;

test('lines are written one chunk at a time, in order, joined up to the size of a chunk', () => {
  const descriptor = new Descriptor();
  for (const line of ['a\n', 'bb\n', 'cc\n', 'dd\n', 'a longer line than a piece\n', 'é\n']) descriptor.output.write(line);
  const pieces: string[] = [];
  while (descriptor.offered !== undefined) {
    pieces.push(descriptor.offered.toString());
    descriptor.succeed();
  }
  expect(pieces).toEqual(['a\n', 'bb\ncc\n', 'dd\n', 'a longer line than a piece\n', 'é\n']);
  expect(descriptor.taken).toBe(pieces.join(''));
});

test('lines that closely follow a write are written together, at once if they fill a chunk', () => {
  const descriptor = new Descriptor();
  descriptor.output.write('a\n');
  descriptor.end();
  descriptor.output.write('b\n');
  descriptor.output.write('c\n');
  expect(descriptor.offered).toBeUndefined();
  vi.advanceTimersByTime(10);
  expect(descriptor.offered?.toString()).toBe('b\nc\n');
  descriptor.output.write('to fill\n');
  descriptor.end();
  expect(descriptor.offered?.toString()).toBe('to fill\n');
});

test('an urgent line, or one with which the others fill a chunk, does not wait for more', () => {
  const descriptor = new Descriptor();
  descriptor.output.write('a\n');
  descriptor.end();
  descriptor.output.write('b\n');
  descriptor.output.write('c\n', true);
  expect(descriptor.offered?.toString()).toBe('b\nc\n');
  descriptor.end();
  expect(descriptor.offered).toBeUndefined();
  descriptor.output.write('x\n', true);
  descriptor.output.write('y\n', true);
  descriptor.end();
  // It came while another was being written.
  expect(descriptor.offered?.toString()).toBe('y\n');
  descriptor.end();
  descriptor.output.write('d\n');
  expect(descriptor.offered).toBeUndefined();
  descriptor.output.write('to fill\n');
  expect(descriptor.offered?.toString()).toBe('d\n');
});

test('an urgent line does not end the pause of a destination that takes nothing', () => {
  const descriptor = new Descriptor();
  descriptor.output.write('a\n');
  descriptor.fail('EAGAIN');
  descriptor.output.write('b\n', true);
  expect(descriptor.offered).toBeUndefined();
  vi.advanceTimersByTime(20);
  expect(descriptor.offered?.toString()).toBe('a\n');
});

test('a chunk that is written in part is continued where that ended', () => {
  const descriptor = new Descriptor();
  descriptor.output.write('0123456\n');
  descriptor.output.write('next\n');
  descriptor.succeed(3);
  expect(descriptor.offered?.toString()).toBe('3456\n');
  descriptor.succeedAll();
  expect(descriptor.taken).toBe('0123456\nnext\n');
});

test('a destination that accepts nothing for now is tried again, and nothing is lost', () => {
  const descriptor = new Descriptor();
  descriptor.output.write('a\n');
  descriptor.fail('EAGAIN');
  descriptor.output.write('b\n');
  expect(descriptor.offered).toBeUndefined();
  vi.advanceTimersByTime(20);
  descriptor.succeedAll();
  expect(descriptor.taken).toBe('a\nb\n');
});

test('a full disk loses lines, which are counted in the log when it has room again', () => {
  const descriptor = new Descriptor();
  descriptor.output.write('a\n');
  descriptor.output.write('b\nc\n');
  descriptor.fail('ENOSPC');
  vi.advanceTimersByTime(1000);
  descriptor.fail('ENOSPC');
  vi.advanceTimersByTime(1000);
  // The report fails as well, and is repeated.
  descriptor.fail('ENOSPC');
  descriptor.output.write('d\n');
  vi.advanceTimersByTime(1000);
  descriptor.succeedAll();
  expect(descriptor.taken).toBe('d\n' + lost(3, '1970-01-01T00:00:03.010Z'));
  // Reported once each time it begins.
  expect(descriptor.failures).toEqual(['ENOSPC']);
  descriptor.output.write('e\n');
  descriptor.fail('EIO');
  expect(descriptor.failures).toEqual(['ENOSPC', 'EIO']);
});

test('a line that a full disk has truncated is ended before the next one', () => {
  const descriptor = new Descriptor();
  descriptor.output.write('abcdef\n');
  descriptor.succeed(2);
  descriptor.fail('ENOSPC');
  descriptor.output.write('g\n');
  vi.advanceTimersByTime(1000);
  descriptor.succeedAll();
  expect(descriptor.taken).toBe('ab\ng\n' + lost(1, '1970-01-01T00:00:01.010Z'));
});

test('a full disk that truncates between two lines leaves no empty one', () => {
  const descriptor = new Descriptor();
  descriptor.output.write('first\n');
  for (const line of ['a\n', 'b\n']) descriptor.output.write(line);
  descriptor.succeed();
  descriptor.succeed(2);
  descriptor.fail('EDQUOT');
  vi.advanceTimersByTime(1000);
  descriptor.succeedAll();
  expect(descriptor.taken).toBe('first\na\n' + lost(1, '1970-01-01T00:00:01.010Z'));
});

test.each(['EPIPE', 'ECONNRESET'])('when the reader has gone (%s), lines are dropped and no write is tried again', (code) => {
  const descriptor = new Descriptor();
  descriptor.output.write('a\n');
  descriptor.output.write('b\n');
  descriptor.fail(code);
  descriptor.output.write('c\n');
  descriptor.output.flushSync();
  expect(vi.getTimerCount()).toBe(0);
  expect(descriptor.offered).toBeUndefined();
  expect(descriptor.taken).toBe('');
  expect(descriptor.failures).toEqual([]);
});

test('a reader that has stopped reading costs at most 8 MiB; lost lines are counted', () => {
  const descriptor = new Descriptor();
  descriptor.output.write('first\n');
  const line = `${'x'.repeat(65_535)}\n`;
  for (let i = 0; i < 128 + 5; i++) descriptor.output.write(line);
  descriptor.succeedAll();
  expect(descriptor.taken).toBe('first\n' + line.repeat(128) + lost(5, '1970-01-01T00:00:00.010Z'));
  descriptor.output.write('last\n');
  descriptor.succeedAll();
  expect(descriptor.taken.endsWith('}\nlast\n')).toBe(true);
});

test('the last lines are written before the process exits, however few bytes are accepted at once', () => {
  const descriptor = new Descriptor();
  descriptor.output.write('a\n');
  descriptor.fail('EAGAIN');
  descriptor.output.write('b\n');
  descriptor.output.write('c\n');
  descriptor.syncBytes = 1;
  descriptor.output.flushSync();
  expect(descriptor.taken).toBe('a\nb\nc\n');
  // It is not the end yet: writing continues.
  descriptor.output.write('d\n');
  descriptor.succeedAll();
  expect(descriptor.taken).toBe('a\nb\nc\nd\n');
  expect(vi.getTimerCount()).toBe(0);
});

test('the last lines do not wait for a write in the background', () => {
  const descriptor = new Descriptor();
  descriptor.output.write('a\n');
  descriptor.output.write('b\n');
  descriptor.output.flushSync();
  expect(descriptor.taken).toBe('b\n');
});

test('when the process exits, the last lines give a write in the background a moment, and wait for nothing else', () => {
  vi.useRealTimers();
  const descriptor = new Descriptor();
  descriptor.output.write('a\n');
  descriptor.output.write('b\n');
  const tookMs = (): number => {
    const beganAtMs = performance.now();
    descriptor.output.flushSync();
    return performance.now() - beganAtMs;
  };
  // The timer of Atomics.wait may be early by a fraction of a millisecond.
  expect(tookMs()).toBeGreaterThan(49);
  expect(descriptor.taken).toBe('b\n');
  descriptor.succeed();
  const waits = vi.spyOn(Atomics, 'wait');
  tookMs();
  descriptor.output.write('c\n');
  descriptor.fail('EAGAIN');
  tookMs();
  expect(descriptor.taken).toBe('b\na\nc\n');
  expect(waits).not.toHaveBeenCalled();
  waits.mockRestore();
});

test.each([['EPIPE'], ['ENOSPC']])('when the process exits, %s ends the last lines at once', (code) => {
  const descriptor = new Descriptor();
  descriptor.output.write('a\n');
  descriptor.output.write('b\n');
  descriptor.syncErrors = [code];
  descriptor.output.flushSync();
  expect(descriptor.taken).toBe('');
});

test('a slow destination gets more than a second at exit, as long as it takes something', () => {
  const descriptor = new Descriptor();
  for (const line of ['a', 'b', 'c', 'd']) descriptor.output.write(`${line.repeat(7)}\n`);
  // Busy before each chunk; 700 ms pass with every one.
  let tries = 0;
  descriptor.onTry = () => {
    tries++;
    if (tries % 2 === 1) throw failure('EAGAIN');
    vi.setSystemTime(Date.now() + 700);
  };
  descriptor.output.flushSync();
  expect(descriptor.taken).toBe('bbbbbbb\nccccccc\nddddddd\n');
});

test('when the process exits, a destination that accepts nothing gets a second', () => {
  vi.useRealTimers();
  const descriptor = new Descriptor();
  descriptor.output.write('a\n');
  descriptor.output.write('b\n');
  descriptor.syncErrors = ['EAGAIN', 'EAGAIN'];
  descriptor.output.flushSync();
  expect(descriptor.taken).toBe('b\n');
  descriptor.output.write('c\n');
  descriptor.syncErrors = Array<string>(1000).fill('EAGAIN');
  const beganAtMs = Date.now();
  descriptor.output.flushSync();
  expect(Date.now() - beganAtMs).toBeGreaterThanOrEqual(1000);
  expect(descriptor.syncErrors.length).toBeGreaterThan(0);
  // What was given up is not lost if the process goes on.
  descriptor.syncErrors = [];
  descriptor.output.flushSync();
  expect(descriptor.taken).toBe('b\nc\n');
});
