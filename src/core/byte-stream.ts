// Bytes that come piece by piece, at their receiver's pace: a streamed request body, or a streamed answer.

/** Where bytes come from. Nothing is read ahead of its receiver, except what the HTTP library has read already. */
export interface ByteSource {
  /** The length in bytes; `undefined` when it is not known before the end. */
  readonly bytes: number | undefined;
  /** Called once: from here on pieces come, in this turn of the event loop or later. */
  open(receiver: ByteReceiver): void;
  /** No more pieces until `resume`. */
  pause(): void;
  resume(): void;
  /** Drops the rest; the receiver is not called any more. Does nothing after the end. May come before `open`. */
  cancel(): void;
}

/** Receives the bytes. One of `end` and `fail` is called last, once. */
export interface ByteReceiver {
  /** Never empty. The receiver may keep the bytes. */
  piece(bytes: Uint8Array): void;
  /** All have come. */
  end(): void;
  /** The rest will never come. */
  fail(): void;
}
