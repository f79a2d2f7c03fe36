// Planted bugs in events: what is stored, with which id, when it is sent again, and its signature.
import type { Mutation } from './mutation.ts';

const KEPT = { file: 'test/unit/stores/events.test.ts' };
const LIMITS = { file: 'test/unit/stores/limit-events.test.ts' };
const KILLED = { file: 'test/evidence/faults/refusal-events.test.ts' };
const SENT = { file: 'test/unit/runtime/event-sender.test.ts' };

export const EVENT_MUTATIONS: readonly Mutation[] = [
  {
    name: 'SQLite: what was told in the period is forgotten',
    edits: [{ where: 'SqliteEvents.#keepReached', find: '      this.#sql.setLastPercent.run(no, periodNo, percent);\n', replace: '' }],
    caughtBy: [{ ...KEPT, names: 'SQLite' }],
  },
  {
    name: 'Redis: what was told in the period is forgotten',
    edits: [{ where: 'report_percents', find: 'number, reached[#reached])', replace: 'number, 0)' }],
    caughtBy: [{ ...KEPT, names: 'Redis' }],
  },
  {
    name: 'SQLite: a refusal is told again by each process',
    edits: [{ where: 'SqliteEvents.#quotaRefused', find: '    if (toldIn === periodNo) return;\n', replace: '' }],
    caughtBy: [{ ...LIMITS, names: 'SQLite' }],
  },
  {
    name: 'SQLite: added credit does not arm the refusal again',
    edits: [{ where: 'TeamRows.setBalance', find: 'if (addMicro > 0) this.#sql.rearmCredit.run(no);', replace: '' }],
    caughtBy: [{ ...LIMITS, names: 'SQLite' }],
  },
  {
    name: 'Redis: what was told of a refusal is forgotten',
    edits: [{ where: 'events.write_refusals', find: "        call('HSET', team_key, 't', events.percents)\n", replace: '' }],
    caughtBy: [
      { ...LIMITS, names: 'Redis' },
      { ...KILLED, names: 'redis' },
    ],
  },
  {
    name: 'Redis: a refusal does not say that there is something to list',
    edits: [{ where: 'events.refused', find: 'return REPORTED .. answer', replace: 'return answer' }],
    caughtBy: [{ ...LIMITS, names: 'Redis' }],
  },
  {
    name: 'Redis: a charge does not say that there is something to list',
    edits: [{ where: 'events.note', find: "      answers[i] = 'K'\n", replace: '' }],
    caughtBy: [{ ...KEPT, names: 'Redis' }],
  },
  {
    name: 'Redis: the event of a changed key is in no list',
    edits: [{ where: 'RedisRecords.#write', find: 'keepsEvent: event !== undefined', replace: 'keepsEvent: false' }],
    caughtBy: [{ file: 'test/unit/stores/redis/outbox.test.ts', names: 'is listed when the call returns' }],
  },
  {
    name: 'SQLite: changes within a millisecond share an event',
    edits: [
      {
        where: 'SQL.nextSerial',
        find: 'SET event_serial = event_serial + 1',
        replace: 'SET event_serial = event_serial',
      },
    ],
    caughtBy: [{ ...KEPT, names: 'SQLite.*within a millisecond' }],
  },
  {
    name: 'Redis: changes within a millisecond share an event',
    edits: [{ where: 'events.change_id', find: "digits(call('HINCRBY', key, 'changes', 1))", replace: "'1'" }],
    caughtBy: [{ ...KEPT, names: 'Redis.*within a millisecond' }],
  },
  {
    name: 'periods that begin within a millisecond share their events',
    edits: [{ where: 'eventIds.period', find: '${startMs}-${number}-${characters}`', replace: '${startMs}-${characters}`' }],
    caughtBy: [{ ...KEPT, names: 'SQLite.*begin within a millisecond' }],
  },
  {
    name: 'SQLite: a period without a charged character is told',
    edits: [
      { where: 'SQL.close', find: 'nullif(sum(characters), 0)', replace: 'sum(characters)' },
      { where: 'Periods.close', find: 'if (closed[0] > 0) ', replace: '' },
    ],
    caughtBy: [{ ...KEPT, names: 'SQLite' }],
  },
  {
    name: 'two gateways send',
    edits: [
      {
        where: 'RecordOutbox.lease',
        find: 'known !== undefined && known.holder !== holder && known.untilMs > nowMs',
        replace: 'false',
      },
    ],
    caughtBy: [{ file: 'test/unit/stores/contract.test.ts', names: 'the SQLite store.*one process holds the lease' }, SENT],
  },
  {
    name: 'the right to send ends a second early',
    edits: [{ where: 'RecordOutbox.lease', find: ' && known.untilMs > nowMs', replace: ' && known.untilMs > nowMs + 1000' }],
    caughtBy: [{ file: 'test/unit/stores/contract.test.ts', names: 'the reference model.*one process holds the lease' }],
  },
  {
    name: 'a plugin’s store: a refusal is told by each process',
    edits: [{ where: 'newLimit', find: '  if (told.some((one) => one.id === id)) return undefined;\n', replace: '' }],
    caughtBy: [{ ...LIMITS, names: 'a plugin’s store' }],
  },
  {
    name: 'a plugin’s store: added credit does not arm the refusal again',
    edits: [{ where: 'hasAddedSince', find: 'addedMicro > since.addedMicro', replace: 'false' }],
    caughtBy: [{ ...LIMITS, names: 'a plugin’s store' }],
  },
  {
    name: 'a plugin’s store: an event of a deleted team is sent',
    edits: [{ where: 'outlivesTeam', find: "return kind === 'team_deleted' ||", replace: "return kind !== 'key_created' ||" }],
    caughtBy: [{ file: 'test/unit/stores/contract.test.ts', names: 'the reference model.*a deleted team is told of once' }],
  },
  {
    name: 'a plugin’s store: what was told of a team’s usage is forgotten',
    edits: [{ where: 'UsageEvents.#lookAt', find: 'const put = [{ ...name, value }, ...kept', replace: 'const put = [...kept' }],
    caughtBy: [{ file: 'test/unit/stores/records/usage-events.test.ts' }],
  },
  {
    name: 'a plugin’s store: what a period has reached in its last moments is not told',
    edits: [
      {
        where: 'untold',
        find: 'for (const one of periods.filter(isNews).toReversed())',
        replace: 'for (const one of periods.slice(0, 1))',
      },
    ],
    caughtBy: [{ file: 'test/unit/stores/records/usage-events.test.ts' }],
  },
  {
    name: 'what was delivered is sent again while the store takes no writes',
    edits: [{ where: 'EventSender.#fill', find: ' && !this.#unsettled.has(id));', replace: ');' }],
    caughtBy: [SENT],
  },
  {
    name: 'the signature leaves out the time',
    edits: [{ where: 'signatureOf', find: '`${id}.${timestamp}.${body}`', replace: '`${id}.${body}`' }],
    caughtBy: [{ file: 'test/unit/runtime/webhook.test.ts' }],
  },
  {
    name: 'an event waits until the body of an earlier answer has ended',
    edits: [{ where: 'Webhook.#freeSocket', find: '      oldest.destroy();\n', replace: '' }],
    caughtBy: [{ file: 'test/unit/runtime/webhook.test.ts', names: 'the status is enough' }],
  },
  {
    name: 'a receiver may send interim answers for as long as it likes',
    edits: [{ where: 'Webhook.post', find: 'if (++interim > INTERIM_ANSWERS_MAX) sent.destroy();', replace: 'interim++;' }],
    caughtBy: [{ file: 'test/unit/runtime/webhook.test.ts', names: 'hostile answers' }],
  },
];
