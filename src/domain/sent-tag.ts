// The tag that a request carries: in the gateway's own field, or where the vendor's API has it.
import type { Exchange } from '../core/exchange.ts';
import type { Refusal } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';
import { readTag, TAG_FAULT, TAG_FIELD, TAG_HEADER } from './request-tag.ts';
import { tagSlot } from './slots.ts';

/** In lower case; a refusal if it is none. */
export function sentTag(x: Exchange): string | Refusal | undefined {
  const own = x.head.headers[TAG_HEADER];
  // An empty field is none.
  const sent = own === undefined || own.trim() === '' ? x.get(tagSlot) : { text: own, field: TAG_FIELD };
  if (sent === undefined) return undefined;
  const tag = readTag(sent.text);
  return tag === null ? refuse('validation_error', `${sent.field}: ${TAG_FAULT}.`) : tag;
}
