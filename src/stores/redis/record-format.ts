// Records of numbers at fixed places: named, and encoded like Lua's struct library does.

/** A double, or an integer of so many bytes; big-endian. */
type NumberFormat = 'd' | `I${1 | 2 | 3 | 4 | 5 | 6 | 7}`;

/** The widest integer that buffers read and write themselves. */
const WIDE_BYTES = 6;

export interface RecordFormat<Name extends string> {
  /** For Lua's struct library. */
  readonly lua: string;
  readonly bytes: number;
  /** Reads the record at the beginning of `packed`; more may follow. */
  read(packed: Buffer): Record<Name, number>;
  pack(values: Readonly<Record<Name, number>>): Buffer;
}

/** `formats` are in the order of the bytes. */
export function recordFormat<Name extends string>(formats: Readonly<Record<Name, NumberFormat>>): RecordFormat<Name> {
  let bytes = 0;
  const places = (Object.entries(formats) as [Name, NumberFormat][]).map(([name, format]) => {
    const width = format === 'd' ? 8 : Number(format.slice(1));
    bytes += width;
    return { name, width, at: bytes - width, isDouble: format === 'd' };
  });
  return {
    lua: `>${Object.values<NumberFormat>(formats)
      .map((format) => (format === 'I1' ? 'B' : format))
      .join('')}`,
    bytes,
    read: (packed) => {
      const values: Partial<Record<Name, number>> = {};
      for (const { name, width, at, isDouble } of places)
        values[name] = isDouble ? packed.readDoubleBE(at) : readInteger(packed, at, width);
      return values as Record<Name, number>;
    },
    pack: (values) => {
      const packed = Buffer.alloc(bytes);
      for (const { name, width, at, isDouble } of places) {
        if (isDouble) packed.writeDoubleBE(values[name], at);
        else writeInteger(packed, values[name], at, width);
      }
      return packed;
    },
  };
}

function readInteger(packed: Buffer, at: number, width: number): number {
  if (width <= WIDE_BYTES) return packed.readUIntBE(at, width);
  return packed.readUInt8(at) * 2 ** 48 + packed.readUIntBE(at + 1, WIDE_BYTES);
}

function writeInteger(into: Buffer, value: number, at: number, width: number): void {
  if (width <= WIDE_BYTES) {
    into.writeUIntBE(value, at, width);
    return;
  }
  into.writeUInt8(Math.floor(value / 2 ** 48), at);
  into.writeUIntBE(value % 2 ** 48, at + 1, WIDE_BYTES);
}
