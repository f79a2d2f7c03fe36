// Converts a team's data in Redis to the port's format; reports inconsistencies.
import type { KeyLimits } from '../../domain/key-limits.ts';
import { movedCredit } from '../../domain/period-credit.ts';
import type {
  KeyContents,
  PeriodContents,
  ReportFinding,
  RequestContents,
  StoreFinding,
  TeamContents,
} from '../../ports/store-contents.ts';
import type { KeyDay } from '../../ports/usage-history.ts';
import { RECORD_TABLES } from '../records/record-tables.ts';
import { recordContents } from '../records/team-records.ts';
import { keyDays } from './key-days.ts';
import { currentCredit, readClosed, countsOfKeys } from './period-record.ts';
import { readKeyCounts } from './key-layout.ts';
import { countsIn, digestOfRecord, fieldsOf, keyFields, readKey, readTeam, stateOf } from './team-codec.ts';
import { ROWS } from './row-formats.ts';
import { activeWord, BOOKS, DESCRIPTION, readAllowance, readKeyState, readPlan, readTold, TEAM_FIELDS } from './team-layout.ts';
import { isOpenRecord, readHead, readRequest, readWindow } from './team-raw.ts';
import type { BooksHead } from './team-raw.ts';
import { readWindowCounts } from './window-layout.ts';

/** The keys of a team that are read as they are. */
export const RAW_PARTS = ['team', 'keys', 'ids', 'places', 'late', 'days', 'periods', ...RECORD_TABLES, 'blobs'] as const;

/** Hashes as Redis returns them: alternating names and values. */
export type RawTeam = Readonly<Record<(typeof RAW_PARTS)[number], readonly Buffer[]>>;

export interface WholeRawTeam extends RawTeam {
  /** Periods that have ended and are not closed, by number. */
  readonly left: ReadonlyMap<number, readonly Buffer[]>;
}

/** How far back to search for them if no lower bound is stored (lua/tend.lua). */
const LEFT_BEFORE = 10_000;

/** Numbers of periods that may have ended without being closed. */
export function leftPeriods({ team }: RawTeam): number[] {
  const fields = fieldsOf(team);
  const books = fields.get('b');
  if (books === undefined) return [];
  const { number } = BOOKS.read(books);
  const first = Number(String(fields.get('left') ?? Math.max(1, number - LEFT_BEFORE)));
  return Array.from({ length: Math.max(0, number - first) }, (_, i) => first + i);
}

export function readContents(teamId: string, raw: WholeRawTeam, report: ReportFinding): TeamContents | undefined {
  const found = (what: string, detail: string, more: Partial<StoreFinding> = {}): void => report({ what, teamId, ...more, detail });
  const fields = fieldsOf(raw.team);
  // It is being deleted, or only its usage was kept.
  if (fields.has('erasure')) return undefined;
  const missing = TEAM_FIELDS.filter((name) => !fields.has(name));
  if (missing.length > 0) {
    found('team', `its record lacks ${missing.join(', ')}`);
    return undefined;
  }
  const team = readTeam(
    teamId,
    DESCRIPTION.map((name) => fields.get(name)),
  );
  const { number, startMs, endMs, usedCharacters } = BOOKS.read(fields.get('b')!);
  const { head, requests } = requestsOf(raw);
  judgeIds(raw, head, found);
  const days = fieldsOf(raw.days);
  const told = readTold(fields, number);
  const keys = keysOf(teamId, raw, number, found);
  const records = recordContents((table) => tableOf(raw[table]), tableOf(raw.blobs).keys(), found);
  judgeTagField(records.tags, fields, found);
  return {
    team,
    period: {
      number,
      startMs,
      endMs,
      anchorMs: Number(String(fields.get('anchor') ?? fields.get('created'))),
      credit: currentCredit(fields.get('credit')!, team.balanceMicro),
    },
    usedCharacters,
    heldCharacters: head !== undefined && head.number === number ? head.heldCharacters : 0,
    ...readAllowance(fields.get('allowance'), number),
    heldMicro: head?.heldMicro ?? 0,
    window: readWindow(raw.places, Math.max(head?.newestMs ?? 0, ...raw.places.slice(-1).map((slot) => ROWS.SLOT.read(slot).atMs))),
    windowCounts: [...readWindowCounts(fields)]
      .map(([subject, counts]) => ({ subject, counts }))
      .toSorted((one, other) => (one.subject < other.subject ? -1 : 1)),
    keys,
    days: daysOf(raw, fields, keys, found),
    dayDone: Number(String(days.get('told') ?? 0)),
    periods: periodsOf(raw, fields, keys, requests, found),
    toldPercents: lastPercentsOf(told.percent, number, raw.left),
    toldRefusals: told.refusals,
    requests,
    ...records,
  };
}

/** For the current period from a field of the team, for earlier ones from the period's hash (lua/outbox.lua, lua/team.lua). */
function lastPercentsOf(running: number, current: number, left: WholeRawTeam['left']): TeamContents['toldPercents'] {
  const found = [...left].map(([number, flat]) => ({ number, percent: Number(String(fieldsOf(flat).get('told') ?? 0)) }));
  found.push({ number: current, percent: running });
  return found.filter(({ percent }) => percent > 0).toSorted((one, other) => one.number - other.number);
}

type Found = (what: string, detail: string, more?: Partial<StoreFinding>) => void;

/** Fields with one-letter names are not request ids. */
function requestsOf({ ids }: RawTeam): { readonly head: BooksHead | undefined; readonly requests: RequestContents[] } {
  const requests: RequestContents[] = [];
  let head: BooksHead | undefined;
  for (let i = 0; i + 1 < ids.length; i += 2) {
    const [id, record] = [ids[i]!, ids[i + 1]!];
    if (id.length > 1) requests.push(readRequest(id, record));
    else if (String(id) === 'h') head = readHead(record);
  }
  return { head, requests: requests.toSorted((one, other) => (one.requestId < other.requestId ? -1 : 1)) };
}

/** An open id that nothing refers to would hold its characters for ever. */
function judgeIds({ ids, places, late }: RawTeam, head: BooksHead | undefined, found: Found): void {
  const listed = new Set([...late, ...places.slice(head?.passed ?? 0).map((slot) => slot.subarray(ROWS.SLOT.bytes))].map(inHex));
  for (let i = 0; i + 1 < ids.length; i += 2) {
    const [id, record] = [ids[i]!, ids[i + 1]!];
    if (id.length > 1 && isOpenRecord(record) && !listed.has(inHex(id))) {
      found('reservation', `request ${readRequest(id, record).requestId} is open and will never expire`);
    }
  }
  if (head !== undefined && head.lateMs > 0 && head.length !== places.length) {
    found('window', `its head counts ${head.length} slots, its list has ${places.length}`);
  }
  if (head === undefined && ids.length > 0) found('held', 'it has request ids but no head');
}

function inHex(bytes: Buffer): string {
  return bytes.toString('hex');
}

function keysOf(teamId: string, { team, keys: records }: RawTeam, current: number, found: Found): KeyContents[] {
  const fields = fieldsOf(team);
  const keys: { readonly order: number; readonly key: KeyContents }[] = [];
  const ids = new Set<string>();
  for (const [keyId, value] of fieldsOf(records)) {
    ids.add(keyId);
    const state = fields.get(`k${keyId}`);
    if (state === undefined) found('key', 'it has no state: its requests are rejected', { keyId });
    const record = String(value);
    const { teamId: _teamId, ...key } = readKey({ keyId, teamId }, record, keyFields(fields, keyId), -Infinity);
    const counts = countsIn(current, stateOf(state));
    const guard = guardOf(fields.get(`w:${keyId}`), key.limits, current);
    if (key.status !== 'revoked' && stateOf(state).word !== activeWord(fields.has(`l:${keyId}`), key.limits)) {
      found('key', 'its guarded flag does not match its limits', { keyId });
    }
    keys.push({ order: Number.parseInt(record, 10), key: { ...key, digest: digestOfRecord(record), ...counts, ...guard } });
  }
  for (const name of fields.keys()) {
    if (name.startsWith('k') && name.length > 1 && !ids.has(name.slice(1)))
      found('key', 'it has a state but no record', { keyId: name.slice(1) });
    if (/^[clnw]:/.test(name) && !ids.has(name.slice(2))) found('key', 'it has limits but no record', { keyId: name.slice(2) });
  }
  return keys.toSorted((one, other) => one.order - other.order).map(({ key }) => key);
}

/** Characters held in an earlier period do not count. */
function guardOf(packed: Buffer | undefined, limits: KeyLimits, current: number): Pick<KeyContents, 'heldCharacters' | 'window'> {
  const { heldCharacters, window, ...counts } = readKeyCounts(packed);
  return { heldCharacters: limits.characters === undefined ? undefined : counts.heldIn === current ? heldCharacters : 0, window };
}

function daysOf({ days }: RawTeam, fields: ReadonlyMap<string, Buffer>, keys: readonly KeyContents[], found: Found): KeyDay[] {
  const packed = fieldsOf(days);
  const known = new Set(keys.map(({ keyId }) => keyId));
  for (const name of packed.keys())
    if (name !== 'told' && !known.has(name)) found('day', 'there are days of an unknown key', { keyId: name });
  return keys.flatMap(({ keyId }) => {
    const state = fields.get(`k${keyId}`);
    return keyDays(packed.get(keyId), state && readKeyState(state)).map((row) => ({ keyId, ...row }));
  });
}

/** Omits periods without usage and without open reservations, which stores need not keep, unless they changed the credit. */
function periodsOf(
  { periods: closed, left }: WholeRawTeam,
  team: ReadonlyMap<string, Buffer>,
  keys: readonly KeyContents[],
  requests: readonly RequestContents[],
  found: Found,
): PeriodContents[] {
  const isTest = (keyId: string): boolean => keys.some((key) => key.keyId === keyId && key.mode === 'test');
  const periods: PeriodContents[] = [];
  for (const [name, record] of fieldsOf(closed)) {
    periods.push({ ...readClosed(Number(name), record), keys: undefined });
  }
  for (const [number, flat] of left) {
    const fields = fieldsOf(flat);
    // Periods in which nothing was charged or held are not kept.
    if (fields.size === 0) continue;
    const count = (field: string): number => Number(String(fields.get(field)));
    const characters = count('characters');
    const open = requests.filter(({ state, periodNumber }) => state === 'open' && periodNumber === number);
    const held = open.reduce((sum, one) => sum + one.characters, 0);
    if (count('open') !== held)
      found('held', `period ${number} records ${count('open')} held characters, its open reservations hold ${held}`);
    const opening = { openingMicro: count('opening'), addedMicro: count('added') };
    const credit = { ...opening, deductedMicro: count('deducted'), balanceMicro: count('balance') };
    if (characters === 0 && open.length === 0 && !movedCredit(credit)) continue;
    const ofKeys = countsOfKeys(team, number, isTest);
    periods.push({
      number,
      startMs: count('starts'),
      endMs: count('ends'),
      closed: false,
      plan: String(fields.get('plan')),
      limits: { ...readPlan(fields.get('p')!), currency: String(fields.get('currency')), period: String(fields.get('length')) },
      characters,
      allowanceUsed: count('allowance'),
      testCharacters: count('tests') + ofKeys.testCharacters,
      requests: count('requests') + ofKeys.requests,
      credit,
      keys: undefined,
    });
  }
  return periods.toSorted((one, other) => one.number - other.number);
}

/** A table of the record space. */
function tableOf(flat: readonly Buffer[]): ReadonlyMap<string, string> {
  return new Map([...fieldsOf(flat)].map(([id, value]) => [id, String(value)]));
}

/** Admissions read the settings of tags only if the field `g` says that there are some. */
function judgeTagField(tags: TeamContents['tags'], fields: ReadonlyMap<string, Buffer>, found: Found): void {
  const [counted, listed] = [Number(String(fields.get('g') ?? 0)), Object.keys(tags.tag_limits).length];
  if (counted !== listed) found('tag', `${listed} of its tags have settings, and its record says ${counted}`);
}
