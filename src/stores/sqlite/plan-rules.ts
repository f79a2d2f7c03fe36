// What a plan's numbers refuse, and nowhere else: the counterpart of stores/redis/lua/plan.lua.
import { costMicro, minorRoundedDown, minorRoundedUp } from '../../domain/money.ts';
import type { Micro } from '../../domain/money.ts';
import type { TeamLimits } from '../../domain/plan.ts';
import type { Placed } from '../../ports/ledger.ts';
import type { TeamBooks } from './team-books.ts';

/** Judged before the glossary. */
export function textRefusal({ maxCharactersPerRequest }: TeamLimits, characters: number): Placed | undefined {
  if (characters <= maxCharactersPerRequest) return undefined;
  return { kind: 'text_too_long', maxCharacters: maxCharactersPerRequest };
}

/** Credit that the characters are paid with. */
export function priceOf({ billing, minorPerMillion }: TeamLimits, characters: number): Micro {
  return billing === 'credit' ? costMicro(characters, minorPerMillion) : 0;
}

/** Judged after the glossary: whether used, held and asked-for characters fit into the quota, or the price into the credit. */
export function booksRefusal(limits: TeamLimits, counts: TeamBooks['counts'], characters: number): Placed | undefined {
  if (limits.billing === 'quota') {
    const total = counts.usedCharacters + counts.heldCharacters + characters;
    const { characterLimit, overageCharacters, overageCapMinor } = limits;
    if (total <= characterLimit + overageCharacters) return undefined;
    return { kind: 'quota_exceeded', characterLimit, overageCapMinor, periodEndMs: counts.periodEndMs };
  }
  const freeMicro = counts.balanceMicro - counts.heldMicro;
  const priceMicro = priceOf(limits, characters);
  if (freeMicro >= priceMicro) return undefined;
  const { currency } = limits;
  return { kind: 'credit_exhausted', balanceMinor: minorRoundedDown(freeMicro), requiredMinor: minorRoundedUp(priceMicro), currency };
}
