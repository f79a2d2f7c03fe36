// OpenDocument texts: paragraphs, headings and descriptions of pictures, then headers and footers;
// deleted text and fields stay.
import { addNodes, PassageBuilder } from './passage-builder.ts';
import type { ElementRole } from './passage-builder.ts';
import type { DocumentPart, ReadDocument } from './passage.ts';
import type { ZipPackage } from './office-package.ts';
import { readPart } from './part-reader.ts';
import { refuse } from './limits.ts';
import type { Source } from './source.ts';
import { escapeXml, scanXml } from './xml-scan.ts';
import type { XmlElement } from './xml-scan.ts';

const PARAGRAPHS: ReadonlySet<string> = new Set(['text:p', 'text:h', 'svg:title', 'svg:desc']);
const PAIRS: ReadonlySet<string> = new Set(['text:span', 'text:a', 'text:meta', 'text:placeholder']);
/** May swap with others of their kind. */
const LOOSE: ReadonlySet<string> = new Set(['text:note', 'text:tab', 'text:line-break', 'drawing:frame', 'text:s']);
const MIME_TYPES = /^application\/vnd\.oasis\.opendocument\.text(?:-template)?$/;

export function openDocument(archive: ZipPackage): ReadDocument {
  if (!MIME_TYPES.test(archive.needed('mimetype').text.trim())) refuse('the file is no OpenDocument text');
  const manifest = archive.part('META-INF/manifest.xml');
  if (manifest !== undefined) {
    scanXml(manifest, {
      open({ name }) {
        if (name === 'manifest:encryption-data') refuse('the file is encrypted: remove its password');
      },
    });
  }
  const parts = [archive.needed('content.xml'), archive.part('styles.xml')].filter((part) => part !== undefined);
  return { parts: parts.map(openPart) };
}

function openPart(source: Source): DocumentPart {
  const hidden = new HiddenStyles();
  /** How many elements with deleted text are around. */
  let deleted = 0;
  const roleOf = ({ name, attributes }: XmlElement): ElementRole => {
    if (!PAIRS.has(name)) return LOOSE.has(name) ? 'loose' : 'ordered';
    return name === 'text:span' && hidden.has(attributes.get('text:style-name') ?? '') ? 'hidden' : 'around';
  };
  return readPart(source, {
    paragraphs: {
      names: PARAGRAPHS,
      passagesOf({ children }, inner) {
        const builder = new PassageBuilder(source.text, { write: escapeXml, collapses: true });
        addNodes(builder, children, roleOf, inner);
        builder.flush();
        return builder.found.all;
      },
    },
    skips: () => deleted > 0,
    visitor: {
      open(element) {
        hidden.open(element);
        if (element.name === 'text:tracked-changes') deleted++;
      },
      close({ name }) {
        if (name === 'text:tracked-changes') deleted--;
      },
    },
  });
}

/** Styles that only number a session: LibreOffice gives one to each piece that was changed. */
class HiddenStyles {
  readonly #names = new Set<string>();
  /** Of the style that is being read. */
  #name = '';

  open({ name, attributes }: XmlElement): void {
    if (name === 'style:style') {
      this.#name = attributes.get('style:name') ?? '';
      const isPlain = attributes.get('style:family') === 'text' && !attributes.has('style:parent-style-name');
      if (isPlain) this.#names.add(this.#name);
    } else if (name === 'style:text-properties') {
      if ([...attributes.keys()].some((key) => key !== '?:rsid' && key !== '?:paragraph-rsid')) this.#names.delete(this.#name);
    }
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }
}
