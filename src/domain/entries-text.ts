// Dictionary entries as JSON in pieces, so that a large dictionary is never handled in one go.

/** UTF-8: entries separated by commas, without the enclosing braces. */
export type EntryPieces = readonly Uint8Array[];

type Entries = Readonly<Record<string, string>>;

/** Takes about a fifth of a millisecond to read or write. */
const PIECE_BYTES = 65_536;
const [BRACE, SEPARATOR] = [Buffer.from('{'), Buffer.from(',')];

/** Serialized dictionary entries. */
export interface WrittenEntries {
  readonly pieces: EntryPieces;
  readonly entryCount: number;
  /** UTF-8 length of all terms and translations, which counts against a team's limit. */
  readonly bytes: number;
}

/** UTF-8 length, without quotes and escapes. */
export function bytesOfEntry(term: string, translation: string): number {
  return Buffer.byteLength(term) + Buffer.byteLength(translation);
}

/** Terms must not repeat. `turn` is awaited whenever a piece is full, to let others go on. */
export async function writeEntries(entries: Entries | ReadonlyMap<string, string>, turn: () => Promise<void>): Promise<WrittenEntries> {
  const pieces: Uint8Array[] = [];
  let [text, entryCount, bytes] = ['', 0, 0];
  for (const [term, translation] of entries instanceof Map
    ? (entries as ReadonlyMap<string, string>)
    : Object.entries(entries as Entries)) {
    text += `${text === '' ? '' : ','}${JSON.stringify(term)}:${JSON.stringify(translation)}`;
    entryCount++;
    bytes += bytesOfEntry(term, translation);
    if (text.length < PIECE_BYTES) continue;
    pieces.push(Buffer.from(text));
    text = '';
    await turn();
  }
  if (text !== '') pieces.push(Buffer.from(text));
  return { pieces, entryCount, bytes };
}

/** Parses the entries of one piece. */
export function readPiece(piece: Uint8Array): Entries {
  return JSON.parse(`{${textOf(piece)}}`) as Entries;
}

/** Yields the bytes of one JSON object with all entries. */
export function* wholeObject(pieces: EntryPieces): Generator<Uint8Array, void> {
  for (const [i, piece] of pieces.entries()) {
    yield i === 0 ? BRACE : SEPARATOR;
    yield piece;
  }
  yield pieces.length === 0 ? Buffer.from('{}') : Buffer.from('}');
}

/** Length of `wholeObject`. */
export function wholeObjectBytes(pieces: EntryPieces): number {
  return pieces.reduce((sum, { length }) => sum + length, 2 + Math.max(0, pieces.length - 1));
}

/** Calls `take` with each entry; `turn` is awaited before each piece of a large dictionary. */
export async function eachEntry(
  found: { readonly entries: Entries; readonly pieces?: EntryPieces },
  turn: () => Promise<void>,
  take: (term: string, translation: string) => void,
): Promise<void> {
  const { pieces } = found;
  for (const part of pieces === undefined ? [found.entries] : pieces) {
    if (pieces !== undefined && isLarge(pieces)) await turn();
    const entries = part instanceof Uint8Array ? readPiece(part) : part;
    for (const [term, translation] of Object.entries(entries)) take(term, translation);
  }
}

/** Whether it is too large to handle in one go. */
export function isLarge(pieces: EntryPieces): boolean {
  return pieces.length > 1;
}

/** Entries that were read: as pieces, and as an object that is built on first access. */
export class ReadEntries {
  readonly pieces: EntryPieces;
  #entries: Entries | undefined = undefined;

  constructor(pieces: EntryPieces) {
    this.pieces = pieces;
  }

  get entries(): Entries {
    return (this.#entries ??= readAll(this.pieces));
  }

  toJSON(): { readonly entries: Entries } {
    return { entries: this.entries };
  }
}

function readAll(pieces: EntryPieces): Entries {
  return JSON.parse(`{${pieces.map(textOf).join(',')}}`) as Entries;
}

function textOf(piece: Uint8Array): string {
  return Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString();
}
