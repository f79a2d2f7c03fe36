// The invariants of a team's data, whichever store has it: sums agree with rows, what is held with open reservations, and every record
// can be read.
import { bytesOfEntry, eachEntry, ReadEntries } from '../domain/entries-text.ts';
import type { EntryPieces } from '../domain/entries-text.ts';
import { DAY_MS, spentIn, isPeriodRule } from '../domain/period.ts';
import { LIMIT_NUMBERS } from '../domain/plan.ts';
import { StoreError } from '../domain/store-unavailable.ts';
import { keySubject, tagSubject, windowLimits } from '../domain/window-limits.ts';
import { readTagCount, readTagDays, readTagSettings, readTagUses } from '../ledger/tag-account.ts';
import type { PeriodUse, RunningPeriod } from '../ports/usage-history.ts';
import type { ReportFinding, WholeAccount } from '../ports/whole-accounts.ts';
import { GLOSSARIES, GLOSSARY_TOTALS, readTotals, withGlossarySums } from './records/record-glossaries.ts';
import type { StoredGlossary } from './records/record-glossaries.ts';
import { recordsOf } from './records/record-tables.ts';
import { accountPeriods, chargedIn } from './records/usage-rows.ts';
import type { WholeStore } from './whole-store.ts';

/** A team as it is judged: its account, with what its records say. */
interface JudgedAccount extends WholeAccount {
  readonly period: RunningPeriod;
  /** Oldest first, with the running one. */
  readonly periods: readonly PeriodUse[];
}

/** What is read besides an account. */
interface Look {
  readonly reader: WholeStore;
  readonly nowMs: number;
}

/** Clocks of servers differ by less; what begins later than this from now was begun by a wrong clock. */
const AHEAD_MS = 60_000;

/** Reports what is wrong; a rule that throws cannot read what it judges. */
type Judge = (isWrong: boolean, what: string, detail: string, keyId?: string) => void;

const RULES: readonly ((account: JudgedAccount, judge: Judge, look: Look) => void | Promise<void>)[] = [
  limits,
  credit,
  held,
  reservations,
  used,
  periods,
  times,
  charged,
  windows,
  tags,
  tagSettings,
  glossaries,
  dictionaries,
];

/** Reports all contradictions in the account of a team that exists. */
export async function judgeTeam(
  account: WholeAccount & { readonly period: RunningPeriod },
  look: Look,
  report: ReportFinding,
): Promise<void> {
  const { teamId } = account.team;
  const judge: Judge = (isWrong, what, detail, keyId) => isWrong && report({ what, teamId, ...(keyId && { keyId }), detail });
  const whole = { ...account, periods: accountPeriods(account) };
  for (const rule of RULES) {
    try {
      await rule(whole, judge, look);
    } catch (error) {
      if (error instanceof StoreError) throw error;
      judge(true, 'team', `its ${rule.name} cannot be judged (${error instanceof Error ? error.name : 'unknown'})`);
    }
  }
}

function limits({ team, ended }: JudgedAccount, judge: Judge): void {
  const all = [
    { of: team.limits, whose: 'its limits' },
    { of: team.nextPlan?.limits, whose: 'the limits of its next plan' },
    ...ended.map((one) => ({ of: one.limits, whose: `the limits of period ${one.number}` })),
  ];
  for (const { of, whose } of all) {
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
    const spent = `has spent ${spentMicro}, begun with ${of.openingMicro} and left ${of.balanceMicro}`;
    judge(!areCounts(of) || !isCount(spentMicro), 'credit', `period ${number} ${spent}`);
  }
  const left = all.at(-1)?.credit.balanceMicro;
  judge(left !== team.balanceMicro, 'credit', `its period has a balance of ${left}, the team one of ${team.balanceMicro}`);
}

/** What is held is what open reservations hold: characters and those of the allowance in the period that runs, money of all. */
function held({ standing, period, keys: all, requests }: JudgedAccount, judge: Judge): void {
  const current = requests.filter(({ periodNumber }) => periodNumber === period.number);
  const ofTests = current.filter(({ ofAllowance }) => ofAllowance);
  const compare = (whose: string, what: string, recorded: number, open: number, keyId?: string): void =>
    judge(recorded !== open, 'held', `${whose} is recorded as holding ${recorded} ${what}, its open reservations hold ${open}`, keyId);
  compare('it', 'characters', standing.heldCharacters, sumOf(current, 'characters'));
  compare('it', 'characters of its allowance', standing.allowanceHeld, sumOf(ofTests, 'characters'));
  compare('it', 'of its money', standing.heldMicro, sumOf(requests, 'priceMicro'));
  for (const { keyId, status, heldCharacters } of all) {
    // A revoked key's counts are no longer updated.
    if (heldCharacters === undefined || status === 'revoked') continue;
    const own = current.filter((one) => one.keyId === keyId);
    compare('a key', 'characters', heldCharacters, sumOf(own, 'characters'), keyId);
  }
  const counted = `${standing.openReservations} of its reservations are open by its counts`;
  judge(standing.openReservations !== requests.length, 'reservation', `${counted}, and there are ${requests.length}`);
}

function reservations({ periods: known, keys: all, requests }: JudgedAccount, judge: Judge): void {
  for (const request of requests) {
    const { requestId, keyId, periodNumber } = request;
    const wrong = (isWrong: boolean, how: string): void => judge(isWrong, 'reservation', `request ${requestId} is open ${how}`, keyId);
    wrong(!all.some((key) => key.keyId === keyId), 'for an unknown key');
    wrong(!known.some(({ number }) => number === periodNumber), 'in an unknown period');
    wrong(!areCounts(request), 'with characters or money that are not whole numbers');
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
    const { number, startMs, endMs, testCharacters, allowanceUsed } = one;
    const next = all[i + 1]!;
    const wrong = (isWrong: boolean, how: string): void => judge(isWrong, 'period', `period ${number} ${how}`);
    wrong(number >= next.number, `is not before period ${next.number}`);
    wrong(startMs > endMs, 'ends before it begins');
    wrong(endMs > next.startMs, `ends after period ${next.number} has begun`);
    wrong(one.closed && requests.some(({ periodNumber }) => periodNumber === number), 'is closed, and a reservation of it is open');
    wrong(allowanceUsed > testCharacters, `has ${testCharacters} characters of test keys, ${allowanceUsed} of its allowance`);
  }
}

/** Periods begin and end by the clock: one that was begun or ended too early shows that it was wrong. */
function times({ period, periods: all, charges }: JudgedAccount, judge: Judge, { nowMs }: Look): void {
  const early = (atMs: number, what: string): void => {
    if (atMs > nowMs + AHEAD_MS) judge(true, 'clock', `${what} ${new Date(atMs).toISOString()}, which is still to come`);
  };
  early(period.startMs, 'its period begins at');
  for (const { number, endMs } of all.slice(0, -1)) early(endMs, `period ${number} is over, but ends at`);
  early(charges.reduce((last, { day }) => Math.max(last, day), 0) * DAY_MS, 'it has usage on the day of');
}

function charged({ charges, keys: known }: JudgedAccount, judge: Judge): void {
  const ids = new Set(known.map(({ keyId }) => keyId));
  for (const charge of charges) {
    const { keyId, day, period, requests } = charge;
    const name = `what was charged on day ${day} in period ${period}`;
    judge(!ids.has(keyId), 'day', `${name} is of an unknown key`, keyId);
    judge(!areCounts(charge) || requests === 0, 'day', `${name} has counts that are not whole numbers`, keyId);
  }
}

/** What windows have counted contains what their open reservations hold, and belongs to the team or one of its keys. */
function windows({ windowCounts, keys: all, requests }: JudgedAccount, judge: Judge): void {
  for (const { subject, counts } of windowCounts) {
    const keyId = all.find((key) => keySubject(key.keyId) === subject)?.keyId;
    judge(subject !== 'team' && keyId === undefined, 'limits', `there are counts of limits of "${subject}", which is unknown`);
    const whose = subject === 'team' ? 'the team' : 'a key';
    const wrong = (isWrong: boolean, detail: string): void => judge(isWrong, 'limits', detail, keyId);
    wrong(!areCounts(counts), `windows of ${whose} have counts that are not whole numbers`);
    for (const { per, from, requests: counted, characters } of counts.windows) {
      const own = requests.filter(({ tickets }) => (tickets?.[subject] ?? 0) > from);
      const open = sumOf(own, 'characters');
      wrong(from + counted > counts.tickets, `the ${per} of ${whose} has counted ${counted} requests, more than there were`);
      wrong(open > characters, `the ${per} of ${whose} has counted ${characters} characters, its open reservations hold ${open}`);
    }
  }
}

/** What is counted by tag was counted for the team on that day, too. */
function tags(account: JudgedAccount, judge: Judge): void {
  const { charges: ofTeam } = account;
  const [counts, earlier] = [recordsOf(account, 'tag_counts'), recordsOf(account, 'tag_days')];
  const all = [...[...counts.values()].map((text) => readTagCount(text)!), ...[...earlier.values()].flatMap((text) => readTagDays(text))];
  judge(!areCounts(all) || all.some(({ requests }) => requests === 0), 'tag', 'a tag has counts that are not whole numbers');
  judge(!hasAll(counts, earlier), 'tag', 'there are days of a tag without counts');
  // Days of keys that are beyond the retention are dropped some time before those of tags.
  const firstDay = Math.min(...ofTeam.map(({ day }) => day));
  for (const [day, ofTags] of Map.groupBy(all, (one) => one.day)) {
    const ofKeys = ofTeam.filter((one) => one.day === day);
    const [tagged, charge] = [sumOf(ofTags, 'characters'), sumOf(ofKeys, 'characters')];
    judge(day >= firstDay && tagged > charge, 'tag', `on day ${day} its tags have ${tagged} characters, its keys ${charge}`);
  }
}

/** Settings can be read, and so can what is used of them, which has counted every open reservation that was made with it. */
function tagSettings(account: JudgedAccount, judge: Judge): void {
  const { period, requests } = account;
  const [settings, uses] = [recordsOf(account, 'tag_limits'), recordsOf(account, 'tag_uses')];
  judge(!hasAll(uses, settings), 'tag', 'a tag has settings, and no record of what is used of them');
  for (const text of settings.values()) readTagSettings(text);
  for (const [tag, text] of uses) {
    const { tickets, inPeriod } = readTagUses(text);
    judge(inPeriod.period > period.number, 'tag', 'a tag has used something of a period that has not begun');
    const isMissed = requests.some((one) => one.tag?.name === tag && (one.tickets?.[tagSubject(tag)] ?? 0) > tickets);
    judge(isMissed, 'tag', 'a tag has counted fewer requests than were made with an open reservation');
  }
}

function glossaries(account: JudgedAccount, judge: Judge): void {
  const [all, pairs] = [glossariesOf(account), recordsOf(account, 'pairs')];
  const wrong = (isWrong: boolean, detail: string): void => judge(isWrong, 'glossary', detail);
  for (const { glossaryId, dictionaries: own } of all)
    wrong(
      !areDistinct(own.map(({ sourceLang, targetLang }) => `${sourceLang}|${targetLang}`)),
      `glossary ${glossaryId} holds a pair twice`,
    );
  const derived = withGlossarySums(account);
  const due = recordsOf(derived, 'pairs');
  for (const id of new Set([...pairs.keys(), ...due.keys()]))
    wrong(pairs.get(id) !== due.get(id), `glossary ${id} has pairs that differ from its dictionaries`);
  const totalsIn = (one: WholeAccount) => readTotals(recordsOf(one, 'totals').get(GLOSSARY_TOTALS.id));
  const [was, is] = [totalsIn(account), totalsIn(derived)];
  wrong(was.count !== is.count, `it is recorded with ${was.count} glossaries but has ${is.count}`);
  wrong(was.bytes !== is.bytes, `its dictionaries are recorded with ${was.bytes} bytes but have ${is.bytes}`);
  const ids = all.flatMap((one) => one.dictionaries.map(({ dictionaryId }) => dictionaryId));
  wrong(!areDistinct(ids), 'two of its glossaries hold the same dictionary');
}

function glossariesOf(account: WholeAccount): readonly StoredGlossary[] {
  return [...recordsOf(account, 'glossaries').values()].map((text) => GLOSSARIES.read(text));
}

/** Entries are read separately from their team, which may have replaced the dictionary meanwhile. */
async function dictionaries(account: JudgedAccount, judge: Judge, { reader }: Look): Promise<void> {
  for (const { dictionaryId, entryCount, bytes } of glossariesOf(account).flatMap((one) => one.dictionaries)) {
    const wrong = (isWrong: boolean, how: string): void => judge(isWrong, 'dictionary', `dictionary ${dictionaryId} ${how}`);
    const pieces = await reader.entries(account.team.teamId, dictionaryId);
    wrong(pieces === undefined, 'has no entries');
    const counted = pieces && (await countedEntries(pieces).catch(() => undefined));
    wrong(pieces !== undefined && counted === undefined, 'cannot be read');
    if (counted === undefined) continue;
    wrong(counted.entries !== entryCount, `is recorded with ${entryCount} entries but has ${counted.entries}`);
    wrong(counted.bytes !== bytes, `is recorded with ${bytes} bytes but has ${counted.bytes}`);
  }
}

/** Rejects for pieces that cannot be read. */
async function countedEntries(pieces: EntryPieces): Promise<{ readonly entries: number; readonly bytes: number }> {
  let [entries, bytes] = [0, 0];
  await eachEntry(
    new ReadEntries(pieces),
    () => Promise.resolve(),
    (term, translation) => {
      entries++;
      bytes += bytesOfEntry(term, translation);
    },
  );
  return { entries, bytes };
}

function hasAll(table: ReadonlyMap<string, string>, of: ReadonlyMap<string, string>): boolean {
  return [...of.keys()].every((id) => table.has(id));
}

function areDistinct(all: readonly string[]): boolean {
  return new Set(all).size === all.length;
}

/** Whether every number in it is a whole one from 0 on. */
function areCounts(value: unknown): boolean {
  if (typeof value === 'number') return isCount(value);
  return typeof value !== 'object' || value === null || Object.values(value).every(areCounts);
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function sumOf<Name extends string>(all: readonly Readonly<Record<Name, number>>[], name: Name): number {
  return all.reduce((sum, one) => sum + one[name], 0);
}
