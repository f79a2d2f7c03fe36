// Planted bugs in what is believed of clocks: each lets a clock that is wrong for some seconds do something that stays.
import type { Mutation, TestRun } from './mutation.ts';

const JUDGED: TestRun = { file: 'test/unit/domain/judged-clock.test.ts' };
const HISTORIES: TestRun = { file: 'test/unit/stores/equality.test.ts', names: 'however their clocks step' };
const IN_SQLITE: TestRun = { file: 'test/unit/stores/sqlite/sqlite-clock.test.ts' };
const IN_REDIS: TestRun = { file: 'test/unit/stores/redis/redis-clock.test.ts' };
const SERVERS: TestRun = { file: 'test/unit/stores/redis/server-clocks.test.ts' };

const edit = (where: string, find: string, replace: string) => ({ where, find, replace });

export const CLOCK_MUTATIONS: readonly Mutation[] = [
  {
    name: 'a step of the clock is believed at once',
    edits: [edit('ClockJudge.look', 'if (agree(offsetMs, this.#trustedMs)) this.#believedMs = offsetMs;', 'this.#believedMs = offsetMs;')],
    caughtBy: [JUDGED, HISTORIES, IN_SQLITE],
  },
  {
    name: 'a step of the clock counts as held from the first look',
    edits: [edit('ClockJudge.look', 'const hasHeld = monotonicMs - this.#seenSinceMs >= HELD_STEP_MS;', 'const hasHeld = true;')],
    caughtBy: [JUDGED],
  },
  {
    name: 'a step goes on holding although the clock was right in between',
    edits: [
      edit(
        'ClockJudge.look',
        '      this.#seenMs = offsetMs;\n      this.#seenSinceMs = monotonicMs;\n    } else',
        '      this.#seenMs = offsetMs;\n    } else',
      ),
    ],
    caughtBy: [JUDGED],
  },
  {
    name: 'a gateway that starts believes its clock, whatever the file remembers',
    edits: [
      edit(
        'compareAtOpen',
        'if (clock instanceof JudgedClock) clock.compare(readMark(prepared(database, SQL).latest.get(LATEST.table, LATEST.id)?.[0]));',
        '',
      ),
    ],
    caughtBy: [{ ...IN_SQLITE, names: '500 days of difference' }],
  },
  {
    name: 'the file remembers a time that is not believed',
    edits: [edit('JudgedClock.compare', 'return this.stepMs === 0 && isDue(', 'return isDue(')],
    caughtBy: [JUDGED],
  },
  {
    name: 'a clock that an operator accepts is not written to the file',
    edits: [edit('RecordClock.accept', '(await this.#write(mark)) ?? ', '')],
    caughtBy: [{ ...IN_SQLITE, names: 'a clock that is accepted' }],
  },
  {
    name: 'other gateways do not learn that a clock was accepted',
    edits: [edit('JudgedClock.compare', 'else if (this.stepMs !== 0 && agree(this.#source.wallMs(), markedMs)) this.accept();', '')],
    caughtBy: [JUDGED, { ...IN_SQLITE, names: 'a clock that is accepted' }],
  },
  {
    name: 'the periods of SQLite begin by the wall clock',
    edits: [
      edit(
        'GroupTransaction.run',
        '        else entry.answer = entry.work(entry.asked, this.#clock.nowMs());',
        '        else entry.answer = entry.work(entry.asked, Date.now());',
      ),
    ],
    caughtBy: [{ file: 'test/journey/wrong-clock.test.ts', names: 'SQLite' }],
  },
  {
    name: "SQLite's janitor ends days and periods by the wall clock",
    edits: [
      edit('Janitor.sweep', 'const isOver = history.look(clock.nowMs());', 'const isOver = history.look(Date.now());'),
      edit('sweep.tidy', 'if (isOver) history.run(nowMs);', 'if (isOver) history.run(Date.now());'),
    ],
    caughtBy: [{ file: 'test/journey/wrong-clock.test.ts', names: 'SQLite' }],
  },
  {
    name: 'the retention of SQLite goes by the wall clock',
    edits: [
      edit('Janitor.#isDue', 'audit.isDue(nowMs)', 'audit.isDue(Date.now())'),
      edit('sweep.tidy', 'audit.clear(nowMs, AUDIT_MAX);', 'audit.clear(Date.now(), AUDIT_MAX);'),
    ],
    caughtBy: [{ file: 'test/journey/wrong-clock.test.ts', names: 'SQLite' }],
  },
  {
    name: 'a server whose clock has stepped goes on by its own clock (Redis)',
    edits: [edit('ServerClocks.correctionOf', 'if (!this.#isHeld(node)) return 0;', 'if (node.length < 99) return 0;')],
    caughtBy: [SERVERS, IN_REDIS, HISTORIES],
  },
  {
    name: 'a function does its work by a clock that has stepped back (Redis)',
    edits: [edit('is_late', 'return now > deadline or deadline - now > FOLLOWED_STEP_MS', 'return now > deadline')],
    caughtBy: [
      { file: 'test/unit/stores/redis/functions.test.ts', names: 'has stepped back' },
      { ...IN_REDIS, names: '500 days of difference' },
    ],
  },
  {
    name: 'retention goes by the time of a server that is not believed (Redis)',
    edits: [
      edit(
        'ServerClocks.now',
        'return readMs !== undefined && agree(readMs, believedMs) ? readMs : believedMs;',
        'return readMs ?? believedMs;',
      ),
    ],
    caughtBy: [SERVERS],
  },
  {
    name: 'a new master is judged by nothing (Redis)',
    edits: [
      edit('ServerClocks.#judge', 'new ClockJudge(this.#believedMs ?? offsetMs, monotonicMs)', 'new ClockJudge(offsetMs, monotonicMs)'),
    ],
    caughtBy: [{ ...SERVERS, names: 'a gateway that starts' }],
  },
  {
    name: 'a master is believed although the others disagree (Redis)',
    edits: [edit('ServerClocks.#judge', ', others.length > 0 && !isConfirmed)', ')')],
    caughtBy: [{ ...SERVERS, names: 'does not lead the others' }],
  },
  {
    name: 'acceptance is ignored (Redis)',
    edits: [edit('RedisClock.accept', '        await redis.set(CLOCK_KEY, String(nowMs));\n        this.#clocks.confirm(nowMs);', '')],
    caughtBy: [{ ...IN_REDIS, names: 'a clock that is accepted' }],
  },
];
