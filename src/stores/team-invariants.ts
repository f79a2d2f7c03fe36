// The invariants of a team's data, whichever store keeps it.
import { bytesOfEntry, eachEntry, ReadEntries } from '../domain/entries-text.ts';
import type { EntryPieces } from '../domain/entries-text.ts';
import { canonicalRange } from '../domain/key-limits.ts';
import { DAY_MS, spentIn, isPeriodRule } from '../domain/period.ts';
import { LIMIT_NUMBERS } from '../domain/plan.ts';
import type { TeamLimits } from '../domain/plan.ts';
import { isScope } from '../domain/scopes.ts';
import { dayOfDate } from '../domain/usage-days.ts';
import { keySubject, tagSubject, windowLimits } from '../domain/window-limits.ts';
import type { Standing } from '../ports/team-registry.ts';
import type { ReportFinding, RunningPeriodContents, StoreFinding, WholeAccount, WindowSlots } from '../ports/whole-accounts.ts';
import { readTagCount, readTagDays } from '../ledger/tag-account.ts';
import { readTagSettings, readTagUses } from '../ledger/tag-uses.ts';
import { readGlossaryTables } from './records/glossary-record.ts';
import type { GlossaryContents } from './records/glossary-record.ts';
import type { DictionaryContents } from './records/glossary-record.ts';
import { readRefusals } from './records/record-refusals.ts';
import type { TeamTable } from './records/record-tables.ts';

/** Clocks of servers differ by less; what begins later than this from now was begun by a wrong clock. */
const AHEAD_MS = 60_000;

/** The parts of a finding other than its team. */
type Found = (what: string, detail: string, more?: Partial<StoreFinding>) => void;

/** A team as it is judged: its account, with what its records say. */
interface JudgedAccount extends Omit<WholeAccount, 'period'>, Omit<Standing, 'balanceMicro'> {
  readonly period: RunningPeriodContents;
  readonly table: (name: TeamTable) => ReadonlyMap<string, string>;
  readonly glossaries: readonly GlossaryContents[];
  readonly glossaryBytes: number;
}

/**
 * Reports all contradictions in an account, and what cannot be at the store's present time. Returns the dictionaries, whose entries
 * are to be judged as well.
 */
export function judgeTeam(account: WholeAccount, nowMs: number, report: ReportFinding): readonly GlossaryContents[] {
  const { team, period, standing, records, requests } = account;
  const { teamId } = team;
  const found: Found = (what, detail, more) => report({ what, teamId, ...more, detail });
  if (period === undefined) return [];
  const { balanceMicro, ...counted } = standing;
  if (balanceMicro !== team.balanceMicro) found('balance', `its balance is ${balanceMicro} and ${team.balanceMicro}`);
  if (counted.openReservations !== requests.length)
    found('reservation', `${counted.openReservations} of its reservations are open by its counts, and there are ${requests.length}`);
  const table = (name: string) => new Map(records.filter((one) => one.table === name).map(({ id, value }) => [id, value]));
  const periods = account.periods.toSorted((one, other) => one.number - other.number);
  const judged: JudgedAccount = { ...account, ...counted, periods, period, table, ...readGlossaryTables(table, found) };
  judgeAll(judged, nowMs, found);
  return judged.glossaries;
}

function judgeAll(contents: JudgedAccount, nowMs: number, found: Found): void {
  judgeLimits(contents.team.limits, 'its limits', found);
  const { nextPlan } = contents.team;
  if (nextPlan !== undefined) judgeLimits(nextPlan.limits, 'the limits of its next plan', found);
  judgeMoney(contents, found);
  judgeCredit(contents, found);
  judgeHeld(contents, found);
  judgeCurrent(contents, found);
  judgeAllowance(contents, found);
  judgePeriods(contents, found);
  judgeTimes(contents, nowMs, found);
  judgeDays(contents, found);
  judgeWindow(contents.window, 'the slots of its rate window are out of order', found);
  judgeKeyLimits(contents, found);
  judgeWindowCounts(contents, found);
  judgeGlossaries(contents, found);
  judgeRefusals(contents, found);
  judgeTags(contents, found);
  judgeTagSettings(contents, found);
}

function judgeLimits(limits: TeamLimits, whose: string, found: Found): void {
  const wrong = LIMIT_NUMBERS.filter((name) => !isCount(limits[name]));
  if (wrong.length > 0) found('limits', `${whose} have no whole number for ${wrong.join(', ')}`);
  if (limits.requestsPerSecond === 0) found('limits', `${whose} let no request through`);
  if (limits.billing !== 'quota' && limits.billing !== 'credit') found('limits', `${whose} have an unknown billing`);
  if (!isPeriodRule(limits.period)) found('limits', `${whose} have an invalid period`);
  try {
    windowLimits(limits.windows);
  } catch {
    found('limits', `${whose} have invalid limits by minute to month`);
  }
}

function judgeMoney({ team: { balanceMicro }, heldMicro }: JudgedAccount, found: Found): void {
  if (!isCount(balanceMicro)) found('balance', `its balance, ${balanceMicro}, is not a whole number from 0 to 2^53 - 1`);
  if (!isCount(heldMicro)) found('held', `its held money, ${heldMicro}, is not a whole number from 0 on`);
  if (heldMicro > balanceMicro) found('held', `it holds ${heldMicro} of a balance of ${balanceMicro}`);
}

/** What invoices are made of: nothing negative was spent, and each period begins with what the one before it has left. */
function judgeCredit({ team, period, periods }: JudgedAccount, found: Found): void {
  for (const { number, requests } of periods) if (!isCount(requests)) found('credit', `period ${number} has ${requests} requests`);
  const all = [...periods, period].map(({ number, credit }) => ({ number, credit }));
  for (const [i, { number, credit }] of all.entries()) {
    const { openingMicro, addedMicro, deductedMicro, balanceMicro } = credit;
    const spentMicro = spentIn(credit);
    if (![openingMicro, addedMicro, deductedMicro, balanceMicro, spentMicro].every(isCount)) {
      found('credit', `period ${number} has spent ${spentMicro}, begun with ${openingMicro} and left ${balanceMicro}`);
    }
    const before = all[i - 1];
    if (before?.number !== number - 1 || before.credit.balanceMicro === openingMicro) continue;
    found('credit', `period ${number} begins with ${openingMicro}, the one before it has left ${before.credit.balanceMicro}`);
  }
  if (period.credit.balanceMicro !== team.balanceMicro)
    found('credit', `its period has a balance of ${period.credit.balanceMicro}, the team one of ${team.balanceMicro}`);
}

function judgeHeld({ period, keys, periods, heldCharacters, heldMicro, requests }: JudgedAccount, found: Found): void {
  const characters = sumOf(requests.filter(({ periodNumber }) => periodNumber === period.number).map((one) => one.characters));
  const micro = sumOf(requests.map(({ priceMicro }) => priceMicro));
  if (!isCount(heldCharacters)) found('held', `its held characters, ${heldCharacters}, are not a whole number from 0 on`);
  if (characters !== heldCharacters)
    found('held', `it is recorded as holding ${heldCharacters} characters, its open reservations hold ${characters}`);
  if (micro !== heldMicro) found('held', `it is recorded as holding ${heldMicro} of its money, its open reservations hold ${micro}`);
  for (const { requestId, keyId, priceMicro, periodNumber, ...one } of requests) {
    const faults = [
      keys.every((key) => key.keyId !== keyId) && 'for an unknown key',
      periodNumber !== period.number && periods.every(({ number }) => number !== periodNumber) && 'in an unknown period',
      !isCount(one.characters) && 'with characters that are not a whole number',
      !isCount(priceMicro) && 'with money that is not a whole number',
    ].filter((fault) => fault !== false);
    for (const fault of faults) found('reservation', `request ${requestId} is open ${fault}`, { keyId });
  }
}

function judgeCurrent({ team, period, usedCharacters, keys }: JudgedAccount, found: Found): void {
  if (!isCount(usedCharacters)) found('used', `its characters, ${usedCharacters}, are not a whole number from 0 on`);
  const sum = sumOf(keys.map(({ characters }) => characters));
  if (sum !== usedCharacters) found('used', `it has used ${usedCharacters} characters in its period, its keys ${sum}`);
  for (const { keyId, characters, requests, mode, display } of keys) {
    if (!isCount(characters) || !isCount(requests)) found('key', 'its counts are not whole numbers from 0 on', { keyId });
    else if (requests === 0 && characters > 0) found('key', `it has ${characters} characters without a request`, { keyId });
    if (!display.startsWith(`la_${mode}_`)) found('key', 'its display does not match its mode', { keyId });
  }
  if (period.number < 1 || !Number.isInteger(period.number)) found('period', `its period has the number ${period.number}`);
  if (period.startMs >= period.endMs) found('period', 'its period ends before it begins');
  if (!Number.isFinite(period.anchorMs)) found('period', 'its periods have no anchor');
  if (!isCount(team.createdAtMs) || team.createdAtMs === 0) found('team', 'it has no time of creation');
}

/** What is of the allowance was used and is held by test keys, and is part of what was used and is held altogether. */
function judgeAllowance({ period, keys, periods, requests, allowanceUsed, allowanceHeld }: JudgedAccount, found: Found): void {
  const open = requests.filter(({ ofAllowance }) => ofAllowance);
  const held = sumOf(open.filter(({ periodNumber }) => periodNumber === period.number).map(({ characters }) => characters));
  if (!isCount(allowanceHeld) || held !== allowanceHeld)
    found('held', `it is recorded as holding ${allowanceHeld} characters of its allowance, its open reservations hold ${held}`);
  const ofTests = sumOf(keys.filter(({ mode }) => mode === 'test').map(({ characters }) => characters));
  if (!isCount(allowanceUsed) || allowanceUsed > ofTests)
    found('used', `it has used ${allowanceUsed} characters of its allowance, its test keys ${ofTests}`);
  for (const { number, characters, testCharacters, allowanceUsed: used } of periods) {
    if (!isCount(used) || !isCount(testCharacters) || used > testCharacters || testCharacters > characters)
      found('period', `period ${number} has ${characters} characters, ${testCharacters} of test keys, ${used} of its allowance`);
  }
}

/** Periods are in sequence, and the totals of past periods match those of their keys. */
function judgePeriods({ period, periods, keys, requests }: JudgedAccount, found: Found): void {
  const known = new Set(keys.map(({ keyId }) => keyId));
  const bounds = [...periods, period];
  for (const [i, one] of periods.entries()) {
    const name = `period ${one.number}`;
    const next = bounds[i + 1]!;
    if (one.number >= next.number) found('period', `${name} is not before period ${next.number}`);
    if (one.startMs > one.endMs) found('period', `${name} ends before it begins`);
    else if (one.endMs > next.startMs) found('period', `${name} ends after period ${next.number} has begun`);
    if (!isCount(one.characters)) found('period', `${name} has ${one.characters} characters`);
    const isOpen = requests.some(({ periodNumber }) => periodNumber === one.number);
    if (one.closed && isOpen) found('period', `${name} is closed, and a reservation of it is open`);
    judgeLimits(one.limits, `the limits of ${name}`, found);
    if (one.keys === undefined) continue;
    const sum = sumOf(one.keys.map(({ characters }) => characters));
    if (sum !== one.characters) found('period', `${name} has ${one.characters} characters, its keys ${sum}`);
    for (const { keyId, characters, requests: count } of one.keys) {
      if (!known.has(keyId)) found('period', `${name} has counts of an unknown key`, { keyId });
      if (!isCount(characters) || !isCount(count) || count === 0)
        found('period', `${name} has counts that are not whole numbers`, { keyId });
    }
  }
}

/** Periods begin and end by the clock: one that was begun or ended too early shows that it was wrong. */
function judgeTimes({ period, periods, days }: JudgedAccount, nowMs: number, found: Found): void {
  const shown = (atMs: number): string => new Date(atMs).toISOString();
  if (isAhead(period.startMs, nowMs)) {
    found('clock', `its period begins at ${shown(period.startMs)}, which is still to come`);
  }
  for (const { number, endMs, closed } of periods.filter((one) => isAhead(one.endMs, nowMs))) {
    found('clock', `period ${number} is ${closed ? 'closed' : 'past'}, but ends at ${shown(endMs)}, which is still to come`);
  }
  const later = days.filter(({ day }) => isAhead(day * DAY_MS, nowMs));
  if (later.length > 0) found('clock', 'it has usage on days that are still to come');
}

/** Days are kept no longer than periods, and counted only since a later version: their total never exceeds that of the periods. */
function judgeDays({ days, periods, keys, usedCharacters }: JudgedAccount, found: Found): void {
  const known = new Set(keys.map(({ keyId }) => keyId));
  for (const { keyId, day, characters, requests } of days) {
    if (!known.has(keyId)) found('day', `day ${day} has counts of an unknown key`, { keyId });
    if (!isCount(characters) || !isCount(requests) || requests === 0 || !isCount(day))
      found('day', `day ${day} has counts that are not whole numbers`, { keyId });
  }
  const sum = sumOf(days.map(({ characters }) => characters));
  const total = usedCharacters + sumOf(periods.map(({ characters }) => characters));
  if (sum > total) found('day', `its days add up to ${sum} characters, its periods to ${total}`);
}

function judgeWindow(window: readonly WindowSlots[], detail: string, found: Found, more?: Partial<StoreFinding>): void {
  const faults = window.some(({ atMs, count }, i) => !isCount(count) || count === 0 || atMs < (window[i - 1]?.atMs ?? 0));
  if (faults) found('window', detail, more);
}

/** The totals kept for a key's own limits match its reservations and slots. */
function judgeKeyLimits({ keys, period, requests }: JudgedAccount, found: Found): void {
  for (const { keyId, status, limits, heldCharacters, window } of keys) {
    const { expiresAtMs = 1, requestsPerSecond = 1, characters = 1, allowedAddresses = [], scopes = [] } = limits;
    if (![expiresAtMs, requestsPerSecond, characters].every((number) => isCount(number) && number > 0)) {
      found('key', 'its limits are not whole numbers from 1 on', { keyId });
    }
    if (allowedAddresses.some((range) => canonicalRange(range) !== range))
      found('key', 'it is allowed from an invalid address range', { keyId });
    if (!scopes.every(isScope)) found('key', 'it has a scope that does not exist', { keyId });
    judgeWindow(window, "the slots of a key's rate window are out of order", found, { keyId });
    // A revoked key's counts are no longer updated.
    if (heldCharacters === undefined || status === 'revoked') continue;
    const open = requests.filter((one) => one.keyId === keyId && one.periodNumber === period.number);
    const sum = sumOf(open.map((one) => one.characters));
    if (sum !== heldCharacters)
      found('held', `a key is recorded as holding ${heldCharacters} characters, its open reservations hold ${sum}`, { keyId });
  }
}

/** What windows have counted contains what their open reservations hold, and belongs to the team or one of its keys. */
function judgeWindowCounts({ windowCounts, keys, requests }: JudgedAccount, found: Found): void {
  for (const { subject, counts } of windowCounts) {
    const keyId = keys.find((key) => keySubject(key.keyId) === subject)?.keyId;
    if (subject !== 'team' && keyId === undefined) found('limits', `there are counts of limits of "${subject}", which is unknown`);
    for (const { per, startMs, endMs, from, requests: counted, characters } of counts.windows) {
      const open = requests.filter(({ tickets }) => (tickets?.[subject] ?? 0) > from);
      const held = sumOf(open.map((one) => one.characters));
      const faults = [
        ![startMs, endMs, from, counted, characters, counts.tickets].every(isCount) && 'has counts that are not whole numbers',
        endMs <= startMs && 'ends before it begins',
        from + counted > counts.tickets && `has counted ${counted} requests, more than there were`,
        held > characters && `has counted ${characters} characters, its open reservations hold ${held}`,
      ].filter((fault) => fault !== false);
      for (const fault of faults)
        found('limits', `the ${per} of ${subject === 'team' ? 'the team' : 'a key'} ${fault}`, keyId === undefined ? {} : { keyId });
    }
  }
}

/** They are counted by day. */
function judgeRefusals({ table }: JudgedAccount, found: Found): void {
  for (const [date, text] of table('refusals')) {
    if (dayOfDate(date) === undefined) found('refusals', `it has refusals of "${date}", which is no day`);
    if (!areCounts(text)) found('refusals', `the refusals of ${date} are not whole numbers`);
  }
}

/** What is counted by tag was counted for the team on that day, too. */
function judgeTags({ table, days }: JudgedAccount, found: Found): void {
  const [counts, daysOfTags] = [table('tag_counts'), table('tag_days')];
  const all = [
    ...[...counts.values()].map((text) => readTagCount(text)!),
    ...[...daysOfTags.values()].flatMap((text) => readTagDays(text)),
  ];
  if (!all.every(({ day, characters, requests }) => [day, characters, requests].every(isCount) && requests > 0))
    found('tag', 'a tag has counts that are not whole numbers');
  if ([...daysOfTags.keys()].some((tag) => !counts.has(tag))) found('tag', 'there are days of a tag without counts');
  // Days of keys that are no longer kept are dropped some time before those of tags.
  const firstDay = Math.min(...days.map(({ day }) => day));
  for (const [day, ofTags] of Map.groupBy(all, (one) => one.day)) {
    if (day < firstDay) continue;
    const ofTeam = days.filter((one) => one.day === day);
    const [tagged, charged] = [ofTags, ofTeam].map((rows) => sumOf(rows.map(({ characters }) => characters))) as [number, number];
    if (tagged > charged) found('tag', `on day ${day} its tags have ${tagged} characters, its keys ${charged}`);
  }
}

/**
 * Settings are what admissions can read, and so is what is used of them, in a period that has begun. What is used of settings that were
 * removed stays for a while; what is recorded has counted every open reservation that was made with it.
 */
function judgeTagSettings({ table, period, requests }: JudgedAccount, found: Found): void {
  const [settings, uses] = [table('tag_limits'), table('tag_uses')];
  if ([...settings.keys()].some((tag) => !uses.has(tag))) found('tag', 'a tag has settings, and no record of what is used of them');
  for (const { tag, tickets } of requests) {
    const used = tag && uses.get(tag.name);
    if (tag !== undefined && used !== undefined && (tickets?.[tagSubject(tag.name)] ?? 0) > readTagUses(used).tickets)
      found('tag', 'a tag has counted fewer requests than were made with an open reservation');
  }
  for (const text of settings.values()) if (!isRead(() => readTagSettings(text))) found('tag', 'settings of a tag cannot be read');
  for (const text of uses.values()) {
    if (!isRead(() => readTagUses(text))) found('tag', 'what is used of the settings of a tag cannot be read');
    else if (readTagUses(text).inPeriod.period > period.number) found('tag', 'a tag has used something of a period that has not begun');
  }
}

function isRead(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}

function areCounts(text: string): boolean {
  try {
    return Object.values(readRefusals(text)).every(isCount);
  } catch {
    return false;
  }
}

function judgeGlossaries({ team, glossaries, glossaryBytes }: JudgedAccount, found: Found): void {
  const dictionaries = glossaries.flatMap((glossary) => glossary.dictionaries);
  const counted = sumOf(dictionaries.map(({ bytes }) => bytes));
  if (counted !== glossaryBytes) found('glossary', `its dictionaries are recorded with ${glossaryBytes} bytes but have ${counted}`);
  const ids = dictionaries.map(({ dictionaryId }) => dictionaryId);
  if (new Set(ids).size < ids.length) found('glossary', 'two of its glossaries hold the same dictionary');
  for (const { glossaryId, name, revision, dictionaries: held } of glossaries) {
    if (!isCount(revision) || revision === 0) found('glossary', `glossary ${glossaryId} has the revision ${revision}`);
    const pairs = held.map(({ sourceLang, targetLang }) => `${sourceLang}|${targetLang}`);
    if (new Set(pairs).size < pairs.length) found('glossary', `glossary ${glossaryId} holds a pair twice`);
    if (name === '') found('glossary', `glossary ${glossaryId} has no name`);
  }
  if (team.name === '') found('team', 'it has no name');
}

/** Entries are read separately from their team, which may have replaced the dictionary meanwhile: `pieces` is then `undefined`. */
export async function judgeDictionary(
  teamId: string,
  { dictionaryId, entryCount, bytes }: DictionaryContents,
  pieces: EntryPieces | undefined,
  report: ReportFinding,
): Promise<void> {
  const found = (detail: string): void => report({ what: 'dictionary', teamId, detail: `dictionary ${dictionaryId} ${detail}` });
  if (pieces === undefined) return found('has no entries');
  let [count, sum] = [0, 0];
  try {
    await eachEntry(
      new ReadEntries(pieces),
      () => Promise.resolve(),
      (term, translation) => {
        count++;
        sum += bytesOfEntry(term, translation);
      },
    );
  } catch {
    return found('cannot be read');
  }
  if (count !== entryCount) found(`is recorded with ${entryCount} entries but has ${count}`);
  if (bytes !== sum) found(`is recorded with ${bytes} bytes but has ${sum}`);
}

function isAhead(atMs: number, nowMs: number): boolean {
  return atMs > nowMs + AHEAD_MS;
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
