// What characters cost in the reference model, and whether quota or credit covers them.
import { costMicro, minorRoundedDown, minorRoundedUp } from '../../../src/domain/money.ts';
import type { Micro } from '../../../src/domain/money.ts';
import type { Period } from '../../../src/domain/period.ts';
import type { TeamLimits } from '../../../src/domain/plan.ts';
import type { CreditExhausted, QuotaExceeded } from '../../../src/ports/ledger.ts';
import type { Standing } from '../../../src/ports/team-registry.ts';

/** Credit that a reservation holds; with quota billing it holds none. */
export function priceMicroOf(limits: TeamLimits, characters: number): Micro {
  return limits.billing === 'credit' ? costMicro(characters, limits.minorPerMillion) : 0;
}

export function priceRefusal(
  limits: TeamLimits,
  books: Standing,
  period: Period,
  characters: number,
): QuotaExceeded | CreditExhausted | undefined {
  if (limits.billing === 'quota') {
    const { characterLimit, overageCharacters, overageCapMinor } = limits;
    if (books.usedCharacters + books.heldCharacters + characters <= characterLimit + overageCharacters) return undefined;
    return { kind: 'quota_exceeded', characterLimit, overageCapMinor, periodEndMs: period.endMs };
  }
  const freeMicro = books.balanceMicro - books.heldMicro;
  const requiredMicro = priceMicroOf(limits, characters);
  if (requiredMicro <= freeMicro) return undefined;
  const [balanceMinor, requiredMinor] = [minorRoundedDown(freeMicro), minorRoundedUp(requiredMicro)];
  return { kind: 'credit_exhausted', balanceMinor, requiredMinor, currency: limits.currency };
}
