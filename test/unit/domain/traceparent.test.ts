// A caller's trace continues at the engine, under a span of ours; an invalid header is not forwarded.
import { describe, expect, test } from 'vitest';
import { traceparentForward, traceparentUnsampled } from '../../../src/domain/request-trace.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const OURS = '00f067aa0ba902b7';

const forward = (value: string | undefined): string | undefined => traceparentForward(value, () => OURS);

describe('a valid traceparent is forwarded with the same trace and our own span', () => {
  test.each([
    ['not sampled', `00-${TRACE}-${SPAN}-00`, '00'],
    ['sampled', `00-${TRACE}-${SPAN}-01`, '01'],
    ['with a random trace id', `00-${TRACE}-${SPAN}-02`, '02'],
    ['both', `00-${TRACE}-${SPAN}-03`, '03'],
    ['undefined flags are left out', `00-${TRACE}-${SPAN}-ff`, '03'],
    ['a later version', `01-${TRACE}-${SPAN}-01`, '01'],
    ['a later version with more parts', `cc-${TRACE}-${SPAN}-01-what-the-future-brings`, '01'],
    ['a later version with an empty part', `fe-${TRACE}-${SPAN}-01-`, '01'],
  ])('%s', (_name, value, flags) => {
    expect(forward(value)).toBe(`00-${TRACE}-${OURS}-${flags}`);
  });
});

describe('an invalid traceparent is not forwarded', () => {
  test.each([
    ['none', undefined],
    ['an empty one', ''],
    ['version ff', `ff-${TRACE}-${SPAN}-01`],
    ['version 00 with more parts', `00-${TRACE}-${SPAN}-01-more`],
    ['version 00 with a trailing dash', `00-${TRACE}-${SPAN}-01-`],
    ['a later version with more but no dash', `01-${TRACE}-${SPAN}-01x`],
    ['a later version that is too short', `01-${TRACE}-${SPAN}-0`],
    ['capital letters', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
    ['a version of one digit', `0-${TRACE}-${SPAN}-01`],
    ['a version that is not a number', `0x-${TRACE}-${SPAN}-01`],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['a span id of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['a short trace id', `00-${TRACE.slice(1)}-${SPAN}-01`],
    ['a short span id', `00-${TRACE}-${SPAN.slice(1)}-01`],
    ['no flags', `00-${TRACE}-${SPAN}`],
    ['flags of one digit', `00-${TRACE}-${SPAN}-1`],
    ['flags that are not a number', `00-${TRACE}-${SPAN}-0g`],
    ['another separator', `00_${TRACE}_${SPAN}_01`],
    ['two of them, like repeated headers', `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
    ['spaces around it', ` 00-${TRACE}-${SPAN}-01`],
    ['a trailing line break', `00-${TRACE}-${SPAN}-01\n`],
  ])('%s', (_name, value) => {
    expect(forward(value)).toBeUndefined();
  });
});

test('each span id is new and well-formed', () => {
  const values = Array.from({ length: 100 }, () => traceparentForward(`00-${TRACE}-${SPAN}-01`)!);
  expect(new Set(values).size).toBe(100);
  for (const value of values) expect(value).toMatch(new RegExp(`^00-${TRACE}-(?!0{16}|${SPAN})[0-9a-f]{16}-01$`));
});

test('a gateway that samples by itself passes on that it has not sampled; the other flag stays', () => {
  const sent = (flags: string): string | undefined =>
    traceparentUnsampled(`00-${'a'.repeat(32)}-${'b'.repeat(16)}-${flags}`, () => 'c'.repeat(16));
  expect(['00', '01', '02', '03'].map(sent)).toEqual(
    ['00', '00', '02', '02'].map((flags) => `00-${'a'.repeat(32)}-${'c'.repeat(16)}-${flags}`),
  );
  expect(traceparentUnsampled('nonsense')).toBeUndefined();
});
