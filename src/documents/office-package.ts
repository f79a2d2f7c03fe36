// The parts of a package of Office Open XML or OpenDocument, and the relations between them.
import { posix } from 'node:path';
import { refuse } from './limits.ts';
import { decoded } from './source.ts';
import type { Source } from './source.ts';
import { scanXml } from './xml-scan.ts';
import { inflated, zipDirectory } from './zip-archive.ts';
import type { ZipDirectory, ZipEntry } from './zip-archive.ts';

interface Relation {
  readonly id: string;
  /** The last word of its type: `header`, `worksheet`. */
  readonly type: string;
  /** The name of a part. */
  readonly target: string;
}

export interface PackagePart extends Source {
  readonly name: string;
}

/** Each part is read once, whatever relations say: they may lead in circles. */
export class ZipPackage {
  readonly directory: ZipDirectory;
  readonly #entries: ReadonlyMap<string, ZipEntry>;
  readonly #parts = new Map<ZipEntry, PackagePart>();

  constructor(bytes: Uint8Array) {
    this.directory = zipDirectory(bytes);
    // Names of parts do not depend on case.
    this.#entries = new Map(this.directory.entries.map((entry) => [entry.name.toLowerCase(), entry]));
  }

  has(name: string): boolean {
    return this.#entries.has(name.toLowerCase());
  }

  part(name: string): PackagePart | undefined {
    const entry = this.#entries.get(name.toLowerCase());
    if (entry === undefined) return undefined;
    const known = this.#parts.get(entry);
    if (known !== undefined) return known;
    const source = decoded(inflated(this.directory, entry), `the part ${entry.name}`);
    const part = { ...source, name: entry.name, entry };
    this.#parts.set(entry, part);
    return part;
  }

  needed(name: string): PackagePart {
    return this.part(name) ?? refuse(`the part ${name.slice(0, 100)} is missing`);
  }

  /**
   * Of a part, or of the whole package by an empty name, to other parts of it: all, or those of
   * `types`, type by type.
   */
  relations(name: string, types?: readonly string[]): readonly Relation[] {
    const folder = posix.dirname(name);
    const part = this.part(posix.join(folder, '_rels', `${posix.basename(name)}.rels`));
    const found: Relation[] = [];
    if (part === undefined) return found;
    scanXml(part, {
      open: ({ name: element, attributes }) => {
        if (element !== 'rel:Relationship' || attributes.get('TargetMode') === 'External') return;
        const [id = '', type = '', path = ''] = ['Id', 'Type', 'Target'].map((key) => attributes.get(key));
        const target = this.#entries.get((path.startsWith('/') ? path.slice(1) : posix.join(folder, path)).toLowerCase())?.name;
        if (target !== undefined) found.push({ id, type: type.slice(type.lastIndexOf('/') + 1), target });
      },
    });
    return types === undefined ? found : types.flatMap((one) => found.filter(({ type }) => type === one));
  }

  /** The part that is the document itself, in the folder of its program; `kind` is what it is. */
  main(folder: string, kind: string): PackagePart {
    const [relation] = this.relations('', ['officeDocument']);
    if (relation === undefined) refuse('the file does not say which of its parts is the document');
    if (!relation.target.toLowerCase().startsWith(folder)) refuse(`the file is no ${kind}`);
    return this.needed(relation.target);
  }

  /** Inflates what nobody reads here, for its length and sum: who gets the file will. */
  checkOthers(): void {
    for (const entry of this.directory.entries) if (!this.#parts.has(entry)) inflated(this.directory, entry);
  }
}
