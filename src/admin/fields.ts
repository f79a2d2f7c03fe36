// The members that operations have in common: what they may be, and how people give them.
import type { TSchema } from 'typebox';
import { readWindowLimit, windowLimits, windowListSchema, writtenWindows } from '../domain/window-limits.ts';
import type { WindowLimit } from '../domain/window-limits.ts';
import { DAY_MS } from '../domain/period.ts';
import type { JudgedText } from '../domain/record-name.ts';
import { readTag, TAG_CHARACTERS_MAX, TAG_FAULT } from '../domain/request-tag.ts';
import { Type } from '../domain/typebox.ts';
import { canonicalUlid } from '../domain/ulid.ts';
import { dayOfDate } from '../domain/usage-days.ts';
import { Unreadable } from './input.ts';
import type { GivenAs } from './input.ts';
import type { RecordKind } from './operation.ts';

export { closed } from '../domain/option-schema.ts';
export const moment = Type.String({ format: 'date-time' });
export const whole = Type.Integer({ minimum: 0 });
export const orNull = <Schema extends TSchema>(schema: Schema, description: string) => Type.Union([schema, Type.Null()], { description });

const [MINUTE_MS, HOUR_MS] = [60_000, 3_600_000];

/** How long something has lasted, in its two largest units: `3 d 4 h`, `12 min`. */
export function span(ms: number): string {
  if (ms < MINUTE_MS) return `${Math.floor(ms / 1000)} s`;
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min`;
  if (ms < DAY_MS) return `${Math.floor(ms / HOUR_MS)} h ${Math.floor((ms % HOUR_MS) / MINUTE_MS)} min`;
  return `${Math.floor(ms / DAY_MS)} d ${Math.floor((ms % DAY_MS) / HOUR_MS)} h`;
}

/** A text that is not just any. `is` follows "is not" in faults. */
export function text(is: string, test: (value: string) => boolean, description: string, given: GivenAs = {}) {
  return Type.Refine(Type.String({ is, description, given }), test, () => is);
}

/** A short text for people; the store trims it. `judge` finds what is wrong. */
export function recordText(judge: (text: string) => JudgedText, charactersMax: number, description: string, given: GivenAs = {}) {
  const faultIn = (value: string): string | undefined => {
    const judged = value === '' && given.blank === true ? { text: '' } : judge(value);
    return 'fault' in judged ? judged.fault : undefined;
  };
  // A browser lets people type twice as many UTF-16 units: a character has at most two.
  const attributes = { maxlength: 2 * charactersMax, ...given.attributes };
  return Type.Refine(
    Type.String({ description, given: { ...given, attributes } }),
    (value) => faultIn(value) === undefined,
    (value) => faultIn(value)!,
  );
}

/** Ids are taken in lower case too. */
function id(kind: RecordKind, given: GivenAs, description = `The ${kind}'s id, a ULID.`) {
  const fromText = (sent: string): string => canonicalUlid(sent.trim()) ?? sent;
  return text(`a ${kind}'s id`, (one) => canonicalUlid(one) === one, description, { record: kind, fromText, ...given });
}

/** The record of the path. */
export const teamId = id('team', { value: 'TEAM' });
export const keyId = id('key', { value: 'KEY_ID' });
export const glossaryId = id('glossary', { value: 'GLOSSARY' });
/** The same where commands have a flag for it. */
export const teamFlag = id('team', { flag: 'team', value: 'TEAM' });

/** Only rows of this team. */
export function ofTeam(what: string, more: GivenAs = {}) {
  const given = {
    flag: 'team',
    value: 'TEAM',
    label: "Team's id",
    fallback: 'all teams',
    attributes: { maxlength: 26, spellcheck: 'false' },
    ...more,
  };
  return id('team', given, `Only ${what} of the team with this id.`);
}

export function utcDay(description: string, given: GivenAs = {}) {
  return text('a UTC day, for example 2026-11-22', (date) => dayOfDate(date) !== undefined, description, { value: 'DAY', ...given });
}

/** One of several words. */
export function choice<const Word extends string>(words: readonly Word[], description: string, given: GivenAs = {}) {
  return Type.Enum([...words], { type: 'string', description, given });
}

export const tag = text(`a tag: it ${TAG_FAULT}`, (one) => readTag(one) === one, 'In lower case.', {
  value: 'TAG',
  fromText: (sent) => readTag(sent) ?? sent,
  attributes: { maxlength: TAG_CHARACTERS_MAX, spellcheck: 'false' },
});

const asWindows: GivenAs = {
  flag: 'limit',
  value: 'LIMIT',
  flagWords: ['What may be used by minute, hour, day, week or month (UTC), such as requests=600/minute or characters=1000000/day'],
  label: 'Limits by time',
  fromText(one) {
    const read = readWindowLimit(one);
    return 'fault' in read ? new Unreadable(read.fault) : read;
  },
};

/** Limits by minute to month: a list, or texts such as `requests=600/minute`. */
export function windowListAs(more: GivenAs = {}) {
  return windowListSchema({
    description: 'What may be used in a minute, an hour, a day, a week or a month. Replaces the whole list.',
    given: { ...asWindows, ...more },
  });
}
export const windowList = windowListAs();

/** As stores keep them. */
export function windowsOf(limits: readonly WindowLimit[] | null | undefined): string | undefined {
  return limits === null || limits === undefined ? undefined : writtenWindows(limits);
}

/** As the list that operators see; `undefined` without any. */
export function windowEntries(written: string | undefined): WindowLimit[] | undefined {
  const limits = written === undefined ? [] : [...windowLimits(written)];
  return limits.length === 0 ? undefined : limits;
}
