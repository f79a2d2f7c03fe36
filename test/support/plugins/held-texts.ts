// A plugin whose stage holds texts that begin with `held ` until the test releases them: requests that are slow before the engine.
import Type from 'typebox';
import { definePlugin } from 'lingate';

const waiting = new Map<string, () => void>();

/** Whether this text is being held. */
export function isHeld(text: string): boolean {
  return waiting.has(text);
}

export function release(text: string): void {
  waiting.get(text)?.();
  waiting.delete(text);
}

export default definePlugin({
  name: 'held-texts',
  options: Type.Object({}, { additionalProperties: false }),
  setup: () => ({
    texts({ text }) {
      const held = text.find((one) => one.startsWith('held '));
      if (held === undefined) return undefined;
      return new Promise((resolve) => waiting.set(held, () => resolve(undefined)));
    },
  }),
});
