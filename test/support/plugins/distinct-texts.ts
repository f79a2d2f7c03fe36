// A plugin for the bench: makes the texts of a share of the requests unlike all others, so that a memory behind it does not know them.
import { Type } from 'typebox';
import { definePlugin } from 'lingate';

export default definePlugin({
  name: 'distinct-texts',
  options: Type.Object({ share: Type.Number({ minimum: 0, maximum: 1 }) }, { additionalProperties: false }),
  setup({ share }) {
    let requests = 0;
    let due = 0;
    return {
      texts({ text }) {
        requests++;
        due += share;
        if (due < 1) return undefined;
        due--;
        const mark = ` #${requests}`;
        return {
          text: text.map((one) => one + mark),
          after: (translations) => translations.map((one) => ({ ...one, text: one.text.replace(mark, '') })),
        };
      },
    };
  },
});
