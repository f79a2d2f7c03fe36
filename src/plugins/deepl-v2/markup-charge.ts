// The step that reads the markup of texts: what of it is charged, and whether XML parses where it has to.
import { chargeSlot, countCharacters, refuse, refusedCharge } from 'lingate';
import type { BodyStep, Charge, Exchange, Slot } from 'lingate';
import { measureMarkup } from './markup-text.ts';
import type { Measured } from './markup-text.ts';
import type { TranslateOrder } from './translate-body.ts';

interface MarkupRules {
  readonly order: Slot<TranslateOrder>;
  /** For the characters to charge for each text, empty ones included; not set if all of them are charged. */
  readonly charged: Slot<readonly number[]>;
  /** Whether only what stands outside of markup is charged. */
  readonly isFree: boolean;
}

/** Comes between the step that reads the request and the admission. */
export function markupStep(name: string, { order: orderSlot, charged, isFree }: MarkupRules): BodyStep {
  return {
    kind: 'body',
    name,
    run(x) {
      const charge = x.get(chargeSlot);
      // Refused already.
      if (charge?.refusal !== undefined || charge?.characters === undefined) return undefined;
      const order = x.need(orderSlot);
      const { format } = order.options;
      if (format === 'text' || (!isFree && !order.isStrict)) return undefined;
      const measured = measureMarkup(order.entries, format);
      if (measured instanceof Promise) return measured.then((late) => setCharge(x, order, late));
      return setCharge(x, order, measured);
    },
  };

  function setCharge(x: Exchange, order: TranslateOrder, measured: readonly Measured[]): undefined {
    const charge = x.need(chargeSlot);
    const malformed = order.isStrict ? measured.indexOf(undefined) : -1;
    if (malformed !== -1) x.set(chargeSlot, notParsed(malformed, charge));
    else if (isFree) {
      const each = measured.map((one, i) => one ?? countCharacters(order.entries[i]!));
      x.set(charged, each);
      x.set(chargeSlot, { ...charge, charged: each.reduce((sum, one) => sum + one, 0) });
    }
    return undefined;
  }
}

function notParsed(index: number, { characters }: Charge): Charge {
  const detail = `Tag handling parsing failed, please check input: text[${index}] is not well-formed XML, which tag_handling_version v2 requires.`;
  return refusedCharge(refuse('validation_error', detail), characters);
}
