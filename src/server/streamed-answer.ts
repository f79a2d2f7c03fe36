// A streamed answer: applies backpressure from the caller and reports how it ended.
import type { ByteReceiver, ByteSource } from '../core/byte-stream.ts';

/** How a library writes it. After `finish`, only `stop` is called. */
export interface StreamWriter {
  /** `false` if the caller must read first: then `writable` is called once, and nothing may be put before that. */
  put(bytes: Uint8Array): boolean;
  /** Everything was put; `delivered` is called when it has been handed to the system. */
  finish(): void;
  /** Closes the connection in a way that lets the caller detect the truncated answer. */
  cut(): void;
  /** Stops all writing and all callbacks. */
  stop(): void;
}

/** Callbacks of a writer. */
export interface WriterEvents {
  writable(): void;
  delivered(): void;
  /** The writer's own code threw inside a callback of the library. */
  failed(error: unknown): void;
}

export type StreamEnd = 'delivered' | 'broken' | 'gone';

/**
 * Timeout for a caller who reads nothing. Far longer than any network pause: the system buffers up to 4 MiB per connection and
 * accepts more only once a third of it is free, which for a reader of 10 KB/s happens every two minutes.
 */
const UNREAD_MS = 180_000;

export class StreamedAnswer implements ByteReceiver, WriterEvents {
  readonly #source: ByteSource;
  readonly #onEnd: (how: StreamEnd) => void;
  readonly #onBug: (error: unknown) => void;
  #writer: StreamWriter | undefined = undefined;
  #over = false;
  #unread: NodeJS.Timeout | undefined = undefined;

  constructor(source: ByteSource, onEnd: (how: StreamEnd) => void, onBug: (error: unknown) => void) {
    this.#source = source;
    this.#onEnd = onEnd;
    this.#onBug = onBug;
  }

  begin(writer: StreamWriter): void {
    this.#writer = writer;
    this.#source.open(this);
  }

  piece(bytes: Uint8Array): void {
    this.#guarded((writer) => {
      if (writer.put(bytes)) return;
      this.#source.pause();
      this.#watch();
    });
  }

  end(): void {
    this.#guarded((writer) => {
      this.#watch();
      writer.finish();
    });
  }

  fail(): void {
    this.#close('broken', true);
  }

  writable(): void {
    if (this.#over) return;
    clearTimeout(this.#unread);
    this.#source.resume();
  }

  delivered(): void {
    this.#close('delivered', false);
  }

  failed(error: unknown): void {
    if (!this.#over) this.#onBug(error);
  }

  /** The caller has disconnected. */
  gone(): void {
    this.#close('gone', false);
  }

  /** The listener's own code threw. */
  broke(): void {
    this.#close('broken', true);
  }

  #watch(): void {
    this.#unread = setTimeout(() => this.#close('gone', true), UNREAD_MS);
  }

  #close(how: StreamEnd, cut: boolean): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#unread);
    this.#writer?.stop();
    if (how !== 'delivered') this.#source.cancel();
    if (cut) this.#writer?.cut();
    this.#onEnd(how);
  }

  #guarded(action: (writer: StreamWriter) => void): void {
    if (this.#over) return;
    try {
      action(this.#writer!);
    } catch (error) {
      this.failed(error);
    }
  }
}
