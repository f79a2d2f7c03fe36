// What stands outside of markup in XML that is well-formed: a document, or a fragment with any number of elements.
import { SaxesParser } from 'saxes';
import { countCharacters } from 'lingate';
import type { MarkupReader } from './markup-text.ts';

/** Only a document can have these. */
const DECLARATION = /^(?:<\?xml\s|\s*<!DOCTYPE\s)/;

export function xmlReader(text: string): MarkupReader {
  return new XmlText(!DECLARATION.test(text));
}

/** At the end of a tag they are put into one object, which takes long for many. */
const ATTRIBUTES_MAX = 1000;

/** Ends the parsing: it would go on after a fault, and report all that follow. */
const MALFORMED = new Error('the text is not well-formed');

function stop(): never {
  throw MALFORMED;
}

/** Entities that a document declares are not known to it: such a document does not parse. */
class XmlText implements MarkupReader {
  characters = 0;
  #attributes = 0;
  readonly #parser: SaxesParser<{ fragment: boolean; position: false }>;

  constructor(fragment: boolean) {
    const count = (text: string): void => {
      this.characters += countCharacters(text);
    };
    this.#parser = new SaxesParser({ fragment, position: false });
    this.#parser.on('text', count);
    this.#parser.on('cdata', count);
    this.#parser.on('opentagstart', () => {
      this.#attributes = 0;
    });
    this.#parser.on('attribute', () => {
      if (++this.#attributes > ATTRIBUTES_MAX) stop();
    });
    this.#parser.on('error', stop);
  }

  write(slice: string, isLast: boolean): boolean {
    try {
      this.#parser.write(slice);
      if (isLast) this.#parser.close();
      return true;
    } catch (error) {
      if (error !== MALFORMED) throw error;
      return false;
    }
  }
}
