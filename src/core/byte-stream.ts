// A byte stream with backpressure: a streamed request body, or a streamed answer.

/** A source of bytes. It does not read ahead of its receiver, except for what the HTTP library has already read. */
export interface ByteSource {
  /** The length in bytes; `undefined` if unknown in advance. */
  readonly bytes: number | undefined;
  /** Called once. From here on pieces are delivered, synchronously or later. */
  open(receiver: ByteReceiver): void;
  /** Stops delivery until `resume`. */
  pause(): void;
  resume(): void;
  /** Discards the rest; the receiver is not called again. Does nothing after the end. May be called before `open`. */
  cancel(): void;
}

/** Why the rest will never arrive: its source failed, it is longer than its route allows, or its receiver took too long. */
export type StreamFault = 'broken' | 'too_long' | 'late';

/** Receives the bytes. Exactly one of `end` and `fail` is called, as the last call. */
export interface ByteReceiver {
  /** Never empty. The receiver may keep the bytes. */
  piece(bytes: Uint8Array): void;
  /** All bytes have been delivered. */
  end(): void;
  /** The rest will never arrive. */
  fail(why: StreamFault): void;
}
