// The invariants of a team's data, whichever store has it: sums agree with rows, what is held with open reservations, and every record
// can be read.
import { bytesOfEntry, eachEntry, ReadEntries } from '../domain/entries-text.ts';
import type { EntryPieces } from '../domain/entries-text.ts';
import { canonicalRange } from '../domain/key-limits.ts';
import { DAY_MS, spentIn, isPeriodRule } from '../domain/period.ts';
import { LIMIT_NUMBERS } from '../domain/plan.ts';
import type { TeamLimits } from '../domain/plan.ts';
import { keySubject, tagSubject, windowLimits } from '../domain/window-limits.ts';
import { readTagCount, readTagDays } from '../ledger/tag-account.ts';
import { readTagSettings, readTagUses } from '../ledger/tag-uses.ts';
import type { PeriodUse, RunningPeriod } from '../ports/usage-history.ts';
import type { ReportFinding, WholeAccount, WindowSlots } from '../ports/whole-accounts.ts';
import { bytesIn, GLOSSARIES, GLOSSARY_TOTALS, pairsText, readTotals } from './records/glossary-record.ts';
import type { StoredDictionary, StoredGlossary } from './records/glossary-record.ts';
import type { TeamTable } from './records/record-tables.ts';
import { accountPeriods, chargedIn } from './records/usage-rows.ts';

/** A team as it is judged: its account, with what its records say. */
interface JudgedAccount extends WholeAccount {
  readonly period: RunningPeriod;
  /** Oldest first, with the running one. */
  readonly periods: readonly PeriodUse[];
  readonly table: (name: TeamTable) => ReadonlyMap<string, string>;
  /** In order of creation. */
  readonly glossaries: readonly StoredGlossary[];
}

/** Clocks of servers differ by less; what begins later than this from now was begun by a wrong clock. */
const AHEAD_MS = 60_000;

/** Reports what is wrong; a rule that throws cannot read what it judges. */
type Judge = (isWrong: boolean, what: string, detail: string, keyId?: string) => void;

const RULES: readonly ((account: JudgedAccount, judge: Judge, nowMs: number) => void)[] = [
  limits,
  credit,
  held,
  reservations,
  used,
  periods,
  times,
  charged,
  keys,
  windows,
  tags,
  tagSettings,
  glossaries,
];

/** Reports all contradictions in an account. Returns the glossaries, whose entries are to be judged as well. */
export function judgeTeam(account: WholeAccount, nowMs: number, report: ReportFinding): readonly StoredGlossary[] {
  const { team, period, records } = account;
  if (period === undefined) return [];
  const { teamId } = team;
  const judge: Judge = (isWrong, what, detail, keyId) => isWrong && report({ what, teamId, ...(keyId && { keyId }), detail });
  const table = (name: string) => new Map(records.filter((one) => one.table === name).map(({ id, value }) => [id, value]));
  const judged = (name: string, work: () => void): void => {
    try {
      work();
    } catch (error) {
      judge(true, 'team', `its ${name} cannot be judged (${error instanceof Error ? error.name : 'unknown'})`);
    }
  };
  const all: StoredGlossary[] = [];
  judged('glossaries', () => all.push(...[...table('glossaries').values()].map((text) => GLOSSARIES.read(text))));
  all.sort((one, other) => one.order - other.order);
  const whole = { ...account, period, periods: accountPeriods(account), table, glossaries: all };
  for (const rule of RULES) judged(rule.name, () => rule(whole, judge, nowMs));
  return all;
}

function limits({ team, ended }: JudgedAccount, judge: Judge): void {
  const all: readonly (readonly [limits: TeamLimits | undefined, whose: string])[] = [
    [team.limits, 'its limits'],
    [team.nextPlan?.limits, 'the limits of its next plan'],
    ...ended.map((one) => [one.limits, `the limits of period ${one.number}`] as const),
  ];
  for (const [of, whose] of all) {
    if (of === undefined) continue;
    const wrong = LIMIT_NUMBERS.filter((name) => !isCount(of[name]));
    judge(wrong.length > 0, 'limits', `${whose} have no whole number for ${wrong.join(', ')}`);
    judge(of.requestsPerSecond === 0, 'limits', `${whose} let no request through`);
    judge(!isPeriodRule(of.period), 'limits', `${whose} have an invalid period`);
    windowLimits(of.windows);
  }
}

/** What invoices are made of: nothing negative was spent, and what is left is the balance. */
function credit({ team, standing: { balanceMicro, heldMicro }, periods: all }: JudgedAccount, judge: Judge): void {
  judge(balanceMicro !== team.balanceMicro, 'balance', `its balance is ${balanceMicro} and ${team.balanceMicro}`);
  judge(!isCount(balanceMicro), 'balance', `its balance, ${balanceMicro}, is not a whole number from 0 to 2^53 - 1`);
  judge(heldMicro > balanceMicro, 'held', `it holds ${heldMicro} of a balance of ${balanceMicro}`);
  for (const { number, credit: of } of all) {
    const spentMicro = spentIn(of);
    const areCounts = [of.openingMicro, of.addedMicro, of.deductedMicro, of.balanceMicro, spentMicro].every(isCount);
    const spent = `has spent ${spentMicro}, begun with ${of.openingMicro} and left ${of.balanceMicro}`;
    judge(!areCounts, 'credit', `period ${number} ${spent}`);
  }
  const left = all.at(-1)?.credit.balanceMicro;
  judge(left !== team.balanceMicro, 'credit', `its period has a balance of ${left}, the team one of ${team.balanceMicro}`);
}

/** What is held is what open reservations hold: characters and those of the allowance in the period that runs, money of all. */
function held({ standing, period, keys: all, requests }: JudgedAccount, judge: Judge): void {
  const current = requests.filter(({ periodNumber }) => periodNumber === period.number);
  const ofTests = current.filter(({ ofAllowance }) => ofAllowance);
  const sums: readonly (readonly [what: string, recorded: number, open: number])[] = [
    ['characters', standing.heldCharacters, charactersOf(current)],
    ['characters of its allowance', standing.allowanceHeld, charactersOf(ofTests)],
    ['of its money', standing.heldMicro, sumOf(requests.map(({ priceMicro }) => priceMicro))],
  ];
  for (const [what, recorded, open] of sums)
    judge(recorded !== open, 'held', `it is recorded as holding ${recorded} ${what}, its open reservations hold ${open}`);
  const counted = `${standing.openReservations} of its reservations are open by its counts`;
  judge(standing.openReservations !== requests.length, 'reservation', `${counted}, and there are ${requests.length}`);
  for (const { keyId, status, heldCharacters } of all) {
    // A revoked key's counts are no longer updated.
    if (heldCharacters === undefined || status === 'revoked') continue;
    const open = charactersOf(current.filter((one) => one.keyId === keyId));
    const recorded = `a key is recorded as holding ${heldCharacters} characters`;
    judge(open !== heldCharacters, 'held', `${recorded}, its open reservations hold ${open}`, keyId);
  }
}

function reservations({ periods: known, keys: all, requests }: JudgedAccount, judge: Judge): void {
  const [numbers, keyIds] = [new Set(known.map(({ number }) => number)), new Set(all.map(({ keyId }) => keyId))];
  for (const { requestId, keyId, priceMicro, periodNumber, characters } of requests) {
    const open = `request ${requestId} is open`;
    judge(!keyIds.has(keyId), 'reservation', `${open} for an unknown key`, keyId);
    judge(!numbers.has(periodNumber), 'reservation', `${open} in an unknown period`, keyId);
    judge(!isCount(characters), 'reservation', `${open} with characters that are not a whole number`, keyId);
    judge(!isCount(priceMicro), 'reservation', `${open} with money that is not a whole number`, keyId);
  }
}

/** What is counted as used in the period that runs is what was charged in it. */
function used({ standing: { usedCharacters, allowanceUsed }, period, charges, keys: all }: JudgedAccount, judge: Judge): void {
  const { characters, ofAllowance } = chargedIn(charges, period.number);
  judge(characters !== usedCharacters, 'used', `it has used ${usedCharacters} characters in its period, its charges have ${characters}`);
  judge(ofAllowance !== allowanceUsed, 'used', `it has used ${allowanceUsed} characters of its allowance, its charges have ${ofAllowance}`);
  const byKey = Map.groupBy(charges, ({ keyId }) => keyId);
  for (const { keyId, ...key } of all) {
    const own = chargedIn(byKey.get(keyId) ?? [], period.number);
    const isWrong = own.characters !== key.characters || own.requests !== key.requests;
    judge(isWrong, 'used', `a key has used ${key.characters} characters in the period, its charges have ${own.characters}`, keyId);
  }
}

/** Periods are in sequence, and none is closed too early. */
function periods({ period, periods: all, requests }: JudgedAccount, judge: Judge): void {
  judge(period.startMs >= period.endMs, 'period', 'its period ends before it begins');
  for (const [i, one] of all.slice(0, -1).entries()) {
    const { number, startMs, endMs, characters, testCharacters, allowanceUsed } = one;
    const next = all[i + 1]!;
    judge(number >= next.number, 'period', `period ${number} is not before period ${next.number}`);
    judge(startMs > endMs, 'period', `period ${number} ends before it begins`);
    judge(endMs > next.startMs, 'period', `period ${number} ends after period ${next.number} has begun`);
    const isOpen = one.closed && requests.some(({ periodNumber }) => periodNumber === number);
    judge(isOpen, 'period', `period ${number} is closed, and a reservation of it is open`);
    const counts = `${characters} characters, ${testCharacters} of test keys, ${allowanceUsed} of its allowance`;
    judge(allowanceUsed > testCharacters, 'period', `period ${number} has ${counts}`);
  }
}

/** Periods begin and end by the clock: one that was begun or ended too early shows that it was wrong. */
function times({ period, periods: all, charges }: JudgedAccount, judge: Judge, nowMs: number): void {
  const [lastMs, shown] = [nowMs + AHEAD_MS, (atMs: number): string => new Date(atMs).toISOString()];
  if (period.startMs > lastMs) judge(true, 'clock', `its period begins at ${shown(period.startMs)}, which is still to come`);
  for (const { number, endMs } of all.slice(0, -1).filter((one) => one.endMs > lastMs))
    judge(true, 'clock', `period ${number} is over, but ends at ${shown(endMs)}, which is still to come`);
  judge(
    charges.some(({ day }) => day * DAY_MS > lastMs),
    'clock',
    'it has usage on days that are still to come',
  );
}

function charged({ charges, keys: known }: JudgedAccount, judge: Judge): void {
  const ids = new Set(known.map(({ keyId }) => keyId));
  for (const { keyId, day, period, characters, requests, micro, ofAllowance } of charges) {
    const name = `what was charged on day ${day} in period ${period}`;
    judge(!ids.has(keyId), 'day', `${name} is of an unknown key`, keyId);
    const areCounts = [characters, requests, micro, ofAllowance].every(isCount) && requests > 0;
    judge(!areCounts, 'day', `${name} has counts that are not whole numbers`, keyId);
  }
}

function keys({ keys: all, window }: JudgedAccount, judge: Judge): void {
  judge(!isOrdered(window), 'window', 'the slots of its rate window are out of order');
  for (const { keyId, characters, requests, mode, display, limits: of, window: slots } of all) {
    const { expiresAtMs = 1, requestsPerSecond = 1, characters: most = 1, allowedAddresses = [] } = of;
    const wrong = (isWrong: boolean, detail: string): void => judge(isWrong, 'key', detail, keyId);
    wrong(!(isCount(characters) && isCount(requests)), 'its counts are not whole numbers from 0 on');
    wrong(requests === 0 && characters > 0, `it has ${characters} characters without a request`);
    wrong(!display.startsWith(`la_${mode}_`), 'its display does not match its mode');
    const areLimits = [expiresAtMs, requestsPerSecond, most].every((number) => isCount(number) && number > 0);
    wrong(!areLimits, 'its limits are not whole numbers from 1 on');
    wrong(!allowedAddresses.every((range) => canonicalRange(range) === range), 'it is allowed from an invalid address range');
    judge(!isOrdered(slots), 'window', "the slots of a key's rate window are out of order", keyId);
  }
}

/** What windows have counted contains what their open reservations hold, and belongs to the team or one of its keys. */
function windows({ windowCounts, keys: all, requests }: JudgedAccount, judge: Judge): void {
  for (const { subject, counts } of windowCounts) {
    const keyId = all.find((key) => keySubject(key.keyId) === subject)?.keyId;
    judge(subject !== 'team' && keyId === undefined, 'limits', `there are counts of limits of "${subject}", which is unknown`);
    for (const { per, startMs, endMs, from, requests: counted, characters } of counts.windows) {
      const open = charactersOf(requests.filter(({ tickets }) => (tickets?.[subject] ?? 0) > from));
      const whose = `the ${per} of ${subject === 'team' ? 'the team' : 'a key'}`;
      const wrong = (isWrong: boolean, detail: string): void => judge(isWrong, 'limits', `${whose} ${detail}`, keyId);
      wrong(![startMs, endMs, from, counted, characters, counts.tickets].every(isCount), 'has counts that are not whole numbers');
      wrong(from + counted > counts.tickets, `has counted ${counted} requests, more than there were`);
      wrong(open > characters, `has counted ${characters} characters, its open reservations hold ${open}`);
    }
  }
}

/** What is counted by tag was counted for the team on that day, too. */
function tags({ table, charges: ofTeam }: JudgedAccount, judge: Judge): void {
  const [counts, earlier] = [table('tag_counts'), table('tag_days')];
  const all = [...[...counts.values()].map((text) => readTagCount(text)!), ...[...earlier.values()].flatMap((text) => readTagDays(text))];
  const areCounts = all.every(({ day, characters, requests }) => [day, characters, requests].every(isCount) && requests > 0);
  judge(!areCounts, 'tag', 'a tag has counts that are not whole numbers');
  judge(!hasAll(counts, earlier), 'tag', 'there are days of a tag without counts');
  // Days of keys that are beyond the retention are dropped some time before those of tags.
  const firstDay = Math.min(...ofTeam.map(({ day }) => day));
  for (const [day, ofTags] of Map.groupBy(all, (one) => one.day)) {
    const [tagged, charge] = [charactersOf(ofTags), charactersOf(ofTeam.filter((one) => one.day === day))];
    judge(day >= firstDay && tagged > charge, 'tag', `on day ${day} its tags have ${tagged} characters, its keys ${charge}`);
  }
}

/** Settings can be read, and so can what is used of them, which has counted every open reservation that was made with it. */
function tagSettings({ table, period, requests }: JudgedAccount, judge: Judge): void {
  const [settings, uses] = [table('tag_limits'), table('tag_uses')];
  judge(!hasAll(uses, settings), 'tag', 'a tag has settings, and no record of what is used of them');
  for (const text of settings.values()) readTagSettings(text);
  for (const [tag, text] of uses) {
    const { tickets, inPeriod } = readTagUses(text);
    judge(inPeriod.period > period.number, 'tag', 'a tag has used something of a period that has not begun');
    const isMissed = requests.some((one) => one.tag?.name === tag && (one.tickets?.[tagSubject(tag)] ?? 0) > tickets);
    judge(isMissed, 'tag', 'a tag has counted fewer requests than were made with an open reservation');
  }
}

function glossaries({ table, glossaries: all }: JudgedAccount, judge: Judge): void {
  const [records, pairs] = [table('glossaries'), table('pairs')];
  for (const one of all) {
    const name = `glossary ${one.glossaryId}`;
    judge(pairs.get(one.glossaryId) !== pairsText(one), 'glossary', `${name} has pairs that differ from its dictionaries`);
    const own = one.dictionaries.map(({ sourceLang, targetLang }) => `${sourceLang}|${targetLang}`);
    judge(new Set(own).size < own.length, 'glossary', `${name} holds a pair twice`);
  }
  for (const id of pairs.keys()) judge(!records.has(id), 'glossary', `glossary ${id} has pairs but no record`);
  const { count, bytes } = readTotals(table('totals').get(GLOSSARY_TOTALS.id));
  judge(count !== all.length, 'glossary', `it is recorded with ${count} glossaries but has ${all.length}`);
  const counted = sumOf(all.map(bytesIn));
  judge(counted !== bytes, 'glossary', `its dictionaries are recorded with ${bytes} bytes but have ${counted}`);
  const ids = all.flatMap(({ dictionaries }) => dictionaries.map(({ dictionaryId }) => dictionaryId));
  judge(new Set(ids).size < ids.length, 'glossary', 'two of its glossaries hold the same dictionary');
}

/** Entries are read separately from their team, which may have replaced the dictionary meanwhile: `pieces` is then `undefined`. */
export async function judgeDictionary(
  teamId: string,
  { dictionaryId, entryCount, bytes }: StoredDictionary,
  pieces: EntryPieces | undefined,
  report: ReportFinding,
): Promise<void> {
  const found = (detail: string): void => report({ what: 'dictionary', teamId, detail: `dictionary ${dictionaryId} ${detail}` });
  if (pieces === undefined) return found('has no entries');
  let [count, sum] = [0, 0];
  const add = (term: string, translation: string): void => {
    count++;
    sum += bytesOfEntry(term, translation);
  };
  try {
    await eachEntry(new ReadEntries(pieces), () => Promise.resolve(), add);
  } catch {
    return found('cannot be read');
  }
  if (count !== entryCount) found(`is recorded with ${entryCount} entries but has ${count}`);
  if (bytes !== sum) found(`is recorded with ${bytes} bytes but has ${sum}`);
}

function isOrdered(window: readonly WindowSlots[]): boolean {
  return window.every(({ atMs, count }, i) => isCount(count) && count > 0 && atMs >= (window[i - 1]?.atMs ?? 0));
}

function hasAll(table: ReadonlyMap<string, string>, of: ReadonlyMap<string, string>): boolean {
  return [...of.keys()].every((id) => table.has(id));
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function charactersOf(all: readonly { readonly characters: number }[]): number {
  return sumOf(all.map(({ characters }) => characters));
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
