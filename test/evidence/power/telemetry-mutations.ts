// Planted bugs in traces: callers who decide what is traced, engines that are told so, and memory without a bound.
import type { Mutation } from './mutation.ts';

const EXPORTERS = { file: 'test/unit/telemetry/exporters.test.ts' };
const JOURNEY = { file: 'test/journey/otel.test.ts', names: 'is not followed by default' };

export const TELEMETRY_MUTATIONS: readonly Mutation[] = [
  {
    name: 'a caller’s sampled flag is followed without follow_callers',
    edits: [{ where: 'RequestSpans.begin', find: 'if (followCallers && value !== undefined)', replace: 'if (value !== undefined)' }],
    caughtBy: [JOURNEY],
  },
  {
    name: 'an engine is told that a request is sampled although it is not',
    edits: [{ where: 'traceparentUnsampled', find: 'caller.flags & ~SAMPLED', replace: 'caller.flags' }],
    caughtBy: [JOURNEY, { file: 'test/unit/domain/traceparent.test.ts' }],
  },
  {
    name: 'spans that cannot be sent are all kept',
    edits: [{ where: 'SpanOutlet.bounded', find: 'if (this.#held >= this.#max) return this.#parts.log.dropped(1);', replace: '' }],
    caughtBy: [EXPORTERS],
  },
];
