// The sentence that engines are tested with, never a caller's text.

/** "The house is big." in each language of the default list. */
const SENTENCES: Readonly<Record<string, string>> = {
  AR: 'البيت كبير.',
  BG: 'Къщата е голяма.',
  CS: 'Dům je velký.',
  DA: 'Huset er stort.',
  DE: 'Das Haus ist groß.',
  EL: 'Το σπίτι είναι μεγάλο.',
  EN: 'The house is big.',
  ES: 'La casa es grande.',
  ET: 'Maja on suur.',
  FI: 'Talo on suuri.',
  FR: 'La maison est grande.',
  GA: 'Tá an teach mór.',
  HE: 'הבית גדול.',
  HR: 'Kuća je velika.',
  HU: 'A ház nagy.',
  ID: 'Rumah itu besar.',
  IT: 'La casa è grande.',
  JA: 'その家は大きいです。',
  KO: '그 집은 큽니다.',
  LT: 'Namas yra didelis.',
  LV: 'Māja ir liela.',
  MT: 'Id-dar hija kbira.',
  NB: 'Huset er stort.',
  NL: 'Het huis is groot.',
  PL: 'Dom jest duży.',
  PT: 'A casa é grande.',
  RO: 'Casa este mare.',
  RU: 'Дом большой.',
  SK: 'Dom je veľký.',
  SL: 'Hiša je velika.',
  SV: 'Huset är stort.',
  TH: 'บ้านหลังใหญ่',
  TR: 'Ev büyük.',
  UK: 'Будинок великий.',
  VI: 'Ngôi nhà lớn.',
  ZH: '房子很大。',
};

/** The sentence in this language; in English if the language is unknown or not in the list. */
export function checkSentence(sourceLang: string | undefined): string {
  return SENTENCES[sourceLang ?? 'EN'] ?? SENTENCES['EN']!;
}
