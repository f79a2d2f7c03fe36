// The invariants of a team's data, whichever store keeps it: sums agree with rows, what is held with open reservations, and every
// record can be read. A rule yields what contradicts it.
import { bytesOfEntry, eachEntry, ReadEntries } from '../domain/entries-text.ts';
import type { EntryPieces } from '../domain/entries-text.ts';
import { canonicalRange } from '../domain/key-limits.ts';
import { DAY_MS, spentIn, isPeriodRule } from '../domain/period.ts';
import { LIMIT_NUMBERS } from '../domain/plan.ts';
import type { TeamLimits } from '../domain/plan.ts';
import { isScope } from '../domain/scopes.ts';
import { dayOfDate } from '../domain/usage-days.ts';
import { keySubject, tagSubject, windowLimits } from '../domain/window-limits.ts';
import { readTagCount, readTagDays } from '../ledger/tag-account.ts';
import { readTagSettings, readTagUses } from '../ledger/tag-uses.ts';
import type { ChargeRow, PeriodUse, RunningPeriod } from '../ports/usage-history.ts';
import type { ReportFinding, WholeAccount, WindowSlots } from '../ports/whole-accounts.ts';
import { readGlossaryTables } from './records/glossary-record.ts';
import type { DictionaryContents, GlossaryContents } from './records/glossary-record.ts';
import { readRefusals } from './records/record-refusals.ts';
import type { TeamTable } from './records/record-tables.ts';
import { accountPeriods, chargedIn } from './records/usage-rows.ts';

type Contradiction = readonly [what: string, detail: string, keyId?: string];

/** A team as it is judged: its account, with what its records say. */
interface JudgedAccount extends WholeAccount {
  readonly period: RunningPeriod;
  /** Oldest first, with the running one. */
  readonly periods: readonly PeriodUse[];
  readonly table: (name: TeamTable) => ReadonlyMap<string, string>;
  readonly glossaries: readonly GlossaryContents[];
  readonly glossaryBytes: number;
}

/** Clocks of servers differ by less; what begins later than this from now was begun by a wrong clock. */
const AHEAD_MS = 60_000;

const RULES: readonly ((account: JudgedAccount, nowMs: number) => Iterable<Contradiction>)[] = [
  limitsOfTeam,
  money,
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
  refusals,
  dictionaries,
];

/** Reports all contradictions in an account. Returns the glossaries, whose entries are to be judged as well. */
export function judgeTeam(account: WholeAccount, nowMs: number, report: ReportFinding): readonly GlossaryContents[] {
  const { team, period, records } = account;
  if (period === undefined) return [];
  const found = (what: string, detail: string, keyId?: string): void =>
    report({ what, teamId: team.teamId, ...(keyId === undefined ? {} : { keyId }), detail });
  const table = (name: string) => new Map(records.filter((one) => one.table === name).map(({ id, value }) => [id, value]));
  const judged: JudgedAccount = { ...account, period, periods: accountPeriods(account), table, ...readGlossaryTables(table, found) };
  for (const rule of RULES) for (const fault of rule(judged, nowMs)) found(...fault);
  return judged.glossaries;
}

function* limitsOfTeam({ team, ended }: JudgedAccount): Iterable<Contradiction> {
  yield* limits(team.limits, 'its limits');
  if (team.nextPlan !== undefined) yield* limits(team.nextPlan.limits, 'the limits of its next plan');
  for (const one of ended) yield* limits(one.limits, `the limits of period ${one.number}`);
}

function* limits(of: TeamLimits, whose: string): Iterable<Contradiction> {
  const wrong = LIMIT_NUMBERS.filter((name) => !isCount(of[name]));
  if (wrong.length > 0) yield ['limits', `${whose} have no whole number for ${wrong.join(', ')}`];
  if (of.requestsPerSecond === 0) yield ['limits', `${whose} let no request through`];
  if (of.billing !== 'quota' && of.billing !== 'credit') yield ['limits', `${whose} have an unknown billing`];
  if (!isPeriodRule(of.period)) yield ['limits', `${whose} have an invalid period`];
  if (!isRead(() => windowLimits(of.windows))) yield ['limits', `${whose} have invalid limits by minute to month`];
}

function* money({ team, standing }: JudgedAccount): Iterable<Contradiction> {
  const { balanceMicro, heldMicro } = standing;
  if (balanceMicro !== team.balanceMicro) yield ['balance', `its balance is ${balanceMicro} and ${team.balanceMicro}`];
  if (!isCount(balanceMicro)) yield ['balance', `its balance, ${balanceMicro}, is not a whole number from 0 to 2^53 - 1`];
  if (heldMicro > balanceMicro) yield ['held', `it holds ${heldMicro} of a balance of ${balanceMicro}`];
}

/** What invoices are made of: nothing negative was spent, and what is left is the balance. */
function* credit({ team, periods: all }: JudgedAccount): Iterable<Contradiction> {
  for (const { number, credit: of } of all) {
    const spentMicro = spentIn(of);
    if (![of.openingMicro, of.addedMicro, of.deductedMicro, of.balanceMicro, spentMicro].every(isCount))
      yield ['credit', `period ${number} has spent ${spentMicro}, begun with ${of.openingMicro} and left ${of.balanceMicro}`];
  }
  const left = all.at(-1)?.credit.balanceMicro;
  if (left !== team.balanceMicro) yield ['credit', `its period has a balance of ${left}, the team one of ${team.balanceMicro}`];
}

/** What is held is what open reservations hold: characters and those of the allowance in the period that runs, money of all. */
function* held({ standing, period, keys: all, requests }: JudgedAccount): Iterable<Contradiction> {
  const current = requests.filter(({ periodNumber }) => periodNumber === period.number);
  const ofTests = current.filter(({ ofAllowance }) => ofAllowance);
  const sums: readonly (readonly [what: string, recorded: number, open: number])[] = [
    ['characters', standing.heldCharacters, charactersOf(current)],
    ['characters of its allowance', standing.allowanceHeld, charactersOf(ofTests)],
    ['of its money', standing.heldMicro, sumOf(requests.map(({ priceMicro }) => priceMicro))],
  ];
  for (const [what, recorded, open] of sums)
    if (!isCount(recorded) || recorded !== open)
      yield ['held', `it is recorded as holding ${recorded} ${what}, its open reservations hold ${open}`];
  if (standing.openReservations !== requests.length)
    yield ['reservation', `${standing.openReservations} of its reservations are open by its counts, and there are ${requests.length}`];
  for (const { keyId, status, heldCharacters } of all) {
    // A revoked key's counts are no longer updated.
    if (heldCharacters === undefined || status === 'revoked') continue;
    const open = charactersOf(current.filter((one) => one.keyId === keyId));
    if (open !== heldCharacters)
      yield ['held', `a key is recorded as holding ${heldCharacters} characters, its open reservations hold ${open}`, keyId];
  }
}

function* reservations({ periods: known, keys: all, requests }: JudgedAccount): Iterable<Contradiction> {
  const numbers = new Set(known.map(({ number }) => number));
  for (const { requestId, keyId, priceMicro, periodNumber, characters } of requests) {
    const faults = [
      all.every((key) => key.keyId !== keyId) && 'for an unknown key',
      !numbers.has(periodNumber) && 'in an unknown period',
      !isCount(characters) && 'with characters that are not a whole number',
      !isCount(priceMicro) && 'with money that is not a whole number',
    ];
    for (const fault of faults) if (fault !== false) yield ['reservation', `request ${requestId} is open ${fault}`, keyId];
  }
}

/** What is counted as used in the period that runs is what was charged in it. */
function* used({ standing, period, charges, keys: all }: JudgedAccount): Iterable<Contradiction> {
  const { usedCharacters, allowanceUsed } = standing;
  const { characters, ofAllowance } = chargedIn(charges, period.number);
  if (!isCount(usedCharacters) || characters !== usedCharacters)
    yield ['used', `it has used ${usedCharacters} characters in its period, its charges have ${characters}`];
  if (!isCount(allowanceUsed) || ofAllowance !== allowanceUsed)
    yield ['used', `it has used ${allowanceUsed} characters of its allowance, its charges have ${ofAllowance}`];
  for (const { keyId, ...key } of all) {
    const own = chargedIn(
      charges.filter((charge) => charge.keyId === keyId),
      period.number,
    );
    if (own.characters !== key.characters || own.requests !== key.requests)
      yield ['used', `a key has used ${key.characters} characters in the period, its charges have ${own.characters}`, keyId];
  }
}

/** Periods are in sequence, and none is closed too early. */
function* periods({ period, periods: all, requests }: JudgedAccount): Iterable<Contradiction> {
  if (period.number < 1 || !Number.isInteger(period.number)) yield ['period', `its period has the number ${period.number}`];
  if (period.startMs >= period.endMs) yield ['period', 'its period ends before it begins'];
  if (!Number.isFinite(period.anchorMs)) yield ['period', 'its periods have no anchor'];
  for (const [i, one] of all.slice(0, -1).entries()) {
    const { number, startMs, endMs, characters, testCharacters, allowanceUsed } = one;
    const next = all[i + 1]!;
    if (number >= next.number) yield ['period', `period ${number} is not before period ${next.number}`];
    if (startMs > endMs) yield ['period', `period ${number} ends before it begins`];
    else if (endMs > next.startMs) yield ['period', `period ${number} ends after period ${next.number} has begun`];
    if (one.closed && requests.some(({ periodNumber }) => periodNumber === number))
      yield ['period', `period ${number} is closed, and a reservation of it is open`];
    if (allowanceUsed > testCharacters)
      yield ['period', `period ${number} has ${characters} characters, ${testCharacters} of test keys, ${allowanceUsed} of its allowance`];
  }
}

/** Periods begin and end by the clock: one that was begun or ended too early shows that it was wrong. */
function* times({ period, periods: all, charges }: JudgedAccount, nowMs: number): Iterable<Contradiction> {
  const [lastMs, shown] = [nowMs + AHEAD_MS, (atMs: number): string => new Date(atMs).toISOString()];
  if (period.startMs > lastMs) yield ['clock', `its period begins at ${shown(period.startMs)}, which is still to come`];
  for (const { number, endMs, closed } of all.slice(0, -1).filter((one) => one.endMs > lastMs))
    yield ['clock', `period ${number} is ${closed ? 'closed' : 'past'}, but ends at ${shown(endMs)}, which is still to come`];
  if (charges.some(({ day }) => day * DAY_MS > lastMs)) yield ['clock', 'it has usage on days that are still to come'];
}

function* charged({ charges, keys: known }: JudgedAccount): Iterable<Contradiction> {
  const ids = new Set(known.map(({ keyId }) => keyId));
  for (const charge of charges) {
    const { keyId, day, period } = charge;
    const name = `what was charged on day ${day} in period ${period}`;
    if (!ids.has(keyId)) yield ['day', `${name} is of an unknown key`, keyId];
    if (!COUNTS.every((count) => isCount(charge[count])) || charge.requests === 0)
      yield ['day', `${name} has counts that are not whole numbers`, keyId];
  }
}

const COUNTS = ['characters', 'requests', 'micro', 'ofAllowance'] as const satisfies readonly (keyof ChargeRow)[];

function* keys({ keys: all, window }: JudgedAccount): Iterable<Contradiction> {
  if (!isOrdered(window)) yield ['window', 'the slots of its rate window are out of order'];
  for (const { keyId, characters, requests, mode, display, limits: of, window: slots } of all) {
    const { expiresAtMs = 1, requestsPerSecond = 1, characters: most = 1, allowedAddresses = [], scopes = [] } = of;
    const faults = [
      !(isCount(characters) && isCount(requests)) && 'its counts are not whole numbers from 0 on',
      requests === 0 && characters > 0 && `it has ${characters} characters without a request`,
      !display.startsWith(`la_${mode}_`) && 'its display does not match its mode',
      ![expiresAtMs, requestsPerSecond, most].every((number) => isCount(number) && number > 0) &&
        'its limits are not whole numbers from 1 on',
      allowedAddresses.some((range) => canonicalRange(range) !== range) && 'it is allowed from an invalid address range',
      !scopes.every(isScope) && 'it has a scope that does not exist',
    ];
    for (const fault of faults) if (fault !== false) yield ['key', fault, keyId];
    if (!isOrdered(slots)) yield ['window', "the slots of a key's rate window are out of order", keyId];
  }
}

/** What windows have counted contains what their open reservations hold, and belongs to the team or one of its keys. */
function* windows({ windowCounts, keys: all, requests }: JudgedAccount): Iterable<Contradiction> {
  for (const { subject, counts } of windowCounts) {
    const keyId = all.find((key) => keySubject(key.keyId) === subject)?.keyId;
    if (subject !== 'team' && keyId === undefined) yield ['limits', `there are counts of limits of "${subject}", which is unknown`];
    for (const { per, startMs, endMs, from, requests: counted, characters } of counts.windows) {
      const open = charactersOf(requests.filter(({ tickets }) => (tickets?.[subject] ?? 0) > from));
      const faults = [
        ![startMs, endMs, from, counted, characters, counts.tickets].every(isCount) && 'has counts that are not whole numbers',
        endMs <= startMs && 'ends before it begins',
        from + counted > counts.tickets && `has counted ${counted} requests, more than there were`,
        open > characters && `has counted ${characters} characters, its open reservations hold ${open}`,
      ];
      for (const fault of faults)
        if (fault !== false) yield ['limits', `the ${per} of ${subject === 'team' ? 'the team' : 'a key'} ${fault}`, keyId];
    }
  }
}

/** What is counted by tag was counted for the team on that day, too. */
function* tags({ table, charges: ofTeam }: JudgedAccount): Iterable<Contradiction> {
  const [counts, earlier] = [table('tag_counts'), table('tag_days')];
  const all = [...[...counts.values()].map((text) => readTagCount(text)!), ...[...earlier.values()].flatMap((text) => readTagDays(text))];
  if (!all.every(({ day, characters, requests }) => [day, characters, requests].every(isCount) && requests > 0))
    yield ['tag', 'a tag has counts that are not whole numbers'];
  if ([...earlier.keys()].some((tag) => !counts.has(tag))) yield ['tag', 'there are days of a tag without counts'];
  // Days of keys that are no longer kept are dropped some time before those of tags.
  const firstDay = Math.min(...ofTeam.map(({ day }) => day));
  for (const [day, ofTags] of Map.groupBy(all, (one) => one.day)) {
    const [tagged, charge] = [charactersOf(ofTags), charactersOf(ofTeam.filter((one) => one.day === day))];
    if (day >= firstDay && tagged > charge) yield ['tag', `on day ${day} its tags have ${tagged} characters, its keys ${charge}`];
  }
}

/** Settings can be read, and so can what is used of them, which has counted every open reservation that was made with it. */
function* tagSettings({ table, period, requests }: JudgedAccount): Iterable<Contradiction> {
  const [settings, uses] = [table('tag_limits'), table('tag_uses')];
  if ([...settings.keys()].some((tag) => !uses.has(tag))) yield ['tag', 'a tag has settings, and no record of what is used of them'];
  for (const text of settings.values()) if (!isRead(() => readTagSettings(text))) yield ['tag', 'settings of a tag cannot be read'];
  for (const [tag, text] of uses) {
    if (!isRead(() => readTagUses(text))) {
      yield ['tag', 'what is used of the settings of a tag cannot be read'];
      continue;
    }
    const { tickets, inPeriod } = readTagUses(text);
    if (inPeriod.period > period.number) yield ['tag', 'a tag has used something of a period that has not begun'];
    if (requests.some((one) => one.tag?.name === tag && (one.tickets?.[tagSubject(tag)] ?? 0) > tickets))
      yield ['tag', 'a tag has counted fewer requests than were made with an open reservation'];
  }
}

function* refusals({ table }: JudgedAccount): Iterable<Contradiction> {
  for (const [date, text] of table('refusals')) {
    if (dayOfDate(date) === undefined) yield ['refusals', `it has refusals of "${date}", which is no day`];
    if (!isRead(() => readRefusals(text)) || !Object.values(readRefusals(text)).every(isCount))
      yield ['refusals', `the refusals of ${date} are not whole numbers`];
  }
}

function* dictionaries({ glossaries, glossaryBytes }: JudgedAccount): Iterable<Contradiction> {
  const all = glossaries.flatMap((glossary) => glossary.dictionaries);
  const counted = sumOf(all.map(({ bytes }) => bytes));
  if (counted !== glossaryBytes) yield ['glossary', `its dictionaries are recorded with ${glossaryBytes} bytes but have ${counted}`];
  if (new Set(all.map(({ dictionaryId }) => dictionaryId)).size < all.length)
    yield ['glossary', 'two of its glossaries hold the same dictionary'];
  for (const { glossaryId, dictionaries: own } of glossaries)
    if (new Set(own.map(({ sourceLang, targetLang }) => `${sourceLang}|${targetLang}`)).size < own.length)
      yield ['glossary', `glossary ${glossaryId} holds a pair twice`];
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

function isOrdered(window: readonly WindowSlots[]): boolean {
  return window.every(({ atMs, count }, i) => isCount(count) && count > 0 && atMs >= (window[i - 1]?.atMs ?? 0));
}

function isRead(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
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
