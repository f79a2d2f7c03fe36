// Our language codes and their ISO 639-3 counterparts.

/** The 36 base codes. */
const ALPHA3 = new Map<string, string>([
  ['AR', 'ara'],
  ['BG', 'bul'],
  ['CS', 'ces'],
  ['DA', 'dan'],
  ['DE', 'deu'],
  ['EL', 'ell'],
  ['EN', 'eng'],
  ['ES', 'spa'],
  ['ET', 'est'],
  ['FI', 'fin'],
  ['FR', 'fra'],
  ['GA', 'gle'],
  ['HE', 'heb'],
  ['HR', 'hrv'],
  ['HU', 'hun'],
  ['ID', 'ind'],
  ['IT', 'ita'],
  ['JA', 'jpn'],
  ['KO', 'kor'],
  ['LT', 'lit'],
  ['LV', 'lav'],
  ['MT', 'mlt'],
  ['NB', 'nob'],
  ['NL', 'nld'],
  ['PL', 'pol'],
  ['PT', 'por'],
  ['RO', 'ron'],
  ['RU', 'rus'],
  ['SK', 'slk'],
  ['SL', 'slv'],
  ['SV', 'swe'],
  ['TH', 'tha'],
  ['TR', 'tur'],
  ['UK', 'ukr'],
  ['VI', 'vie'],
  ['ZH', 'zho'],
]);
const BASE = new Map([...ALPHA3].map(([base, alpha3]) => [alpha3, base]));

/** Regional codes (`PT-BR`) map to their base. `undefined` if it is not one of our codes. */
export function alpha3Of(code: string): string | undefined {
  return ALPHA3.get(code.split('-', 1)[0]!);
}

/** Variants (`eng_US`) map to their base. `undefined` if it is not one of our codes. */
export function baseCodeOf(alpha3: string): string | undefined {
  return BASE.get(alpha3.split(/[-_]/, 1)[0]!);
}
