// An answer that rarely changes: built once, with a strong validator, so that a caller who has it gets a 304 (RFC 9110, section 13).
import { hash } from 'node:crypto';
import type { Reply } from './outcome.ts';

/** For `headers` of a step that calls `unlessKnown`. */
export const IF_NONE_MATCH = 'if-none-match';
const TAG_LENGTH = 22;

export interface ValidatedReply {
  readonly tag: string;
  readonly whole: Reply;
  readonly notModified: Reply;
}

/** The reply with an `ETag`, made of its body. */
export function validated(reply: Reply): ValidatedReply {
  const tag = `"${hash('sha256', reply.body, 'base64url').slice(0, TAG_LENGTH)}"`;
  const headers = [['ETag', tag] as const, ...reply.headers];
  return {
    tag,
    whole: { ...reply, body: Buffer.from(reply.body), headers },
    notModified: { kind: 'reply', status: 304, contentType: undefined, body: '', headers },
  };
}

/** `known` is the field `If-None-Match`. A tag in quotes occurs in it only as a member of its list, weak or not. */
export function unlessKnown({ tag, whole, notModified }: ValidatedReply, known: string | undefined): Reply {
  return known !== undefined && (known === '*' || known.includes(tag)) ? notModified : whole;
}
