// The parameters of style: instructions, style rules and translation memories, which are passed to engines that take them.
import { countCharacters, refuse, wantsOfStyle } from 'lingate';
import type { Refusal, StyleRules, StyleWant } from 'lingate';
import Type from 'typebox';
import type { Judged } from '../facades/members.ts';
import { textOf } from './deepl-request.ts';
import { wantsSoFar } from './translate-order.ts';
import type { ReadOptions, TranslateEntry, TranslateRules } from './translate-order.ts';

const INSTRUCTIONS_MAX = 10;
const INSTRUCTION_CHARACTERS_MAX = 300;
/** Ids are UUIDs at DeepL; a server that speaks its API may have others. */
const ID_CHARACTERS_MAX = 100;
const PERCENT = /^\d{1,3}$/;

type Style = { readonly [Member in keyof StyleRules]: readonly [name: string, StyleWant] };

/** The parameter of each, and what an engine must be able to do for it. In the order of refusals. */
const STYLE: Style = {
  instructions: ['custom_instructions', 'instructions'],
  styleId: ['style_id', 'styles'],
  memoryId: ['translation_memory_id', 'styles'],
  memoryThreshold: ['translation_memory_threshold', 'styles'],
};

const WHERE = 'With `style_rules: pass`, for engines that take it; otherwise refused.';

/** Without what the parameter asks for, the translation would not be the requested one. */
function passed<Value>(read: (value: unknown, named: string) => Judged<Value>) {
  return (value: unknown, named: string, _order: ReadOptions, { passesStyle }: TranslateRules): Judged<Value> =>
    passesStyle ? read(value, named) : refuse('validation_error', `'${named}' is not supported by this service; leave it out.`);
}

const id = passed((value, named) => textOf(value, named, ID_CHARACTERS_MAX));

export const STYLE_PARAMETERS: readonly TranslateEntry[] = [
  { name: 'style_id', does: 'served', means: 'styleId', about: `The id of style rules at the engine. ${WHERE}`, read: id },
  {
    name: 'translation_memory_id',
    does: 'served',
    means: 'memoryId',
    about: `The id of a translation memory at the engine. ${WHERE}`,
    read: id,
  },
  {
    name: 'translation_memory_threshold',
    does: 'served',
    means: 'memoryThreshold',
    about: `How similar a text of the memory must be, from 0 to 100. ${WHERE}`,
    schema: Type.Integer({ minimum: 0, maximum: 100 }),
    read: passed(thresholdOf),
  },
  {
    name: 'custom_instructions',
    does: 'served',
    means: 'instructions',
    about: `Up to ${INSTRUCTIONS_MAX} sentences of at most ${INSTRUCTION_CHARACTERS_MAX} characters on the wording. ${WHERE}`,
    schema: Type.Array(Type.String({ maxLength: INSTRUCTION_CHARACTERS_MAX }), { maxItems: INSTRUCTIONS_MAX }),
    read: passed(instructionsOf),
  },
  { check: engineFault },
];

export function styleOf({ instructions, styleId, memoryId, memoryThreshold }: StyleRules): StyleRules | undefined {
  const style: StyleRules = { instructions, styleId, memoryId, memoryThreshold };
  return wantsOfStyle(style).length === 0 ? undefined : style;
}

/** The refusal of what none of the engines takes that can do the rest. */
function engineFault(order: ReadOptions, { canFor }: TranslateRules): Refusal | undefined {
  const style = styleOf(order);
  if (style === undefined) return undefined;
  const wants = wantsOfStyle(style);
  const others = wantsSoFar(order);
  const lack = wants.find((want, i) => !canFor(order.sourceLang, order.targetLang, [...others, ...wants.slice(0, i)])[want]);
  if (lack === undefined) return undefined;
  const members = Object.keys(STYLE) as (keyof StyleRules)[];
  const member = members.find((one) => STYLE[one][1] === lack && style[one] !== undefined)!;
  return refuse('validation_error', `'${STYLE[member][0]}': the engine of this service does not take it; leave it out.`);
}

function thresholdOf(value: unknown, named: string): Judged<number> {
  const valid = typeof value === 'string' && PERCENT.test(value) ? Number(value) : value;
  if (typeof valid === 'number' && Number.isInteger(valid) && valid >= 0 && valid <= 100) return { valid };
  return refuse('validation_error', `Value for '${named}' not supported: it is a whole number from 0 to 100.`);
}

/** A list, or a form's single field. Empty ones are left out. */
function instructionsOf(value: unknown, named: string): Judged<readonly string[]> {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (list.length > INSTRUCTIONS_MAX) return refuse('validation_error', `'${named}' may have at most ${INSTRUCTIONS_MAX} entries.`);
  for (const [index, one] of list.entries()) {
    if (typeof one !== 'string' || !one.isWellFormed()) {
      return refuse('validation_error', `'${named}[${index}]' must be a string of well-formed Unicode.`);
    }
    if (one.length > INSTRUCTION_CHARACTERS_MAX && countCharacters(one) > INSTRUCTION_CHARACTERS_MAX) {
      return refuse('validation_error', `'${named}[${index}]' may be at most ${INSTRUCTION_CHARACTERS_MAX} characters long.`);
    }
  }
  return { valid: (list as readonly string[]).filter((one) => one !== '') };
}
