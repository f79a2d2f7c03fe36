// The stores that tests at the boundary open, read whole, check and copy.
export { JudgedClock } from '../../../src/domain/clock-judge.ts';
export { openWhole } from '../../../src/stores/open-reader.ts';
export { openStore } from '../../../src/stores/open.ts';
export { recordDocuments } from '../../../src/stores/records/record-documents.ts';
export type { RecordDocuments } from '../../../src/stores/records/record-documents.ts';
export { recordRefusals } from '../../../src/stores/records/record-refusals.ts';
export { teamSlot } from '../../../src/stores/redis/redis-keys.ts';
export { openRedisStore } from '../../../src/stores/redis/redis-store.ts';
export { openSqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts';
export { checkStore } from '../../../src/stores/store-check.ts';
