// The parts of a package of Office Open XML, and the relations between them.
import { posix } from 'node:path';
import { refuse } from './limits.ts';
import { decoded } from './source-text.ts';
import type { SourceText } from './source-text.ts';
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

export interface PackagePart {
  readonly name: string;
  readonly entry: ZipEntry;
  readonly given: SourceText;
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
    const part = { name: entry.name, entry, given: decoded(inflated(this.directory, entry), `the part ${entry.name}`) };
    this.#parts.set(entry, part);
    return part;
  }

  needed(name: string): PackagePart {
    return this.part(name) ?? refuse(`the part ${name.slice(0, 100)} is missing`);
  }

  /** Of a part, or of the whole package by an empty name; without those to what is outside. */
  relations(name: string): Relation[] {
    const folder = posix.dirname(name);
    const part = this.part(posix.join(folder, '_rels', `${posix.basename(name)}.rels`));
    const found: Relation[] = [];
    if (part === undefined) return found;
    scanXml(part.given, `the part ${part.name}`, {
      open({ name: element, attributes }) {
        if (element !== 'rel:Relationship' || attributes.get('TargetMode') === 'External') return;
        const [id = '', type = '', target = ''] = ['Id', 'Type', 'Target'].map((key) => attributes.get(key));
        const path = target.startsWith('/') ? target.slice(1) : posix.join(folder, target);
        found.push({ id, type: type.slice(type.lastIndexOf('/') + 1), target: path });
      },
    });
    return found;
  }

  /** The part that is the document itself. */
  main(): PackagePart {
    const relation = this.relations('').find(({ type }) => type === 'officeDocument');
    return relation === undefined ? refuse('the file does not say which of its parts is the document') : this.needed(relation.target);
  }

  /** Inflates what nobody reads here, for its length and sum: who gets the file will. */
  checkOthers(): void {
    for (const entry of this.directory.entries) if (!this.#parts.has(entry)) inflated(this.directory, entry);
  }
}
