// Bytes that come piece by piece, at the pace of whoever takes them: a request's body on its way in, an answer on its way out.

/** Where bytes come from. Nothing is read ahead of its receiver, but for what the library had in hand already. */
export interface ByteSource {
  /** The length in bytes; `undefined` when it is not known before the end. */
  readonly bytes: number | undefined;
  /** Called once: from here on pieces come, in this turn of the event loop or later. */
  open(receiver: ByteReceiver): void;
  /** No more pieces until `resume`. */
  pause(): void;
  resume(): void;
  /** Nobody takes the rest; nothing is told any more. Does nothing behind the end. May come before `open`. */
  cancel(): void;
}

/** Who takes them. One of `end` and `fail` comes last, once. */
export interface ByteReceiver {
  /** Never empty; the receiver's to keep. */
  piece(bytes: Uint8Array): void;
  /** All have come. */
  end(): void;
  /** The rest will never come. */
  fail(): void;
}
