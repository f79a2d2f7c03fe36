// The encoding of a change of plan that waits for the end of a team's period: the field `next` of the team (lua/team.lua).
import type { Audited } from '../../domain/audit-entry.ts';
import type { NextPlan } from '../../ports/team-registry.ts';
import { packPlan, readPlan } from './team-layout.ts';

/** Texts, each after its length: name, currency, period, numbers, and who ordered it as JSON, empty if that is unknown. */
export function packNextPlan({ name, limits, by }: NextPlan): Buffer {
  const texts = [name, limits.currency, limits.period, packPlan(limits), by === undefined ? '' : JSON.stringify(by)];
  return Buffer.concat(
    texts.flatMap((text) => {
      const length = Buffer.alloc(4);
      const bytes = Buffer.from(text);
      length.writeUInt32BE(bytes.length);
      return [length, bytes];
    }),
  );
}

export function readNextPlan(packed: Buffer): NextPlan {
  const texts: Buffer[] = [];
  for (let at = 0; at < packed.length;) {
    const end = at + 4 + packed.readUInt32BE(at);
    texts.push(packed.subarray(at + 4, end));
    at = end;
  }
  const [name, currency, period, numbers, by] = texts;
  if (numbers === undefined) throw new Error('a next plan is incomplete');
  const limits = { ...readPlan(numbers), currency: String(currency), period: String(period) };
  const ordered = by === undefined || by.length === 0 ? {} : { by: JSON.parse(String(by)) as Audited };
  return { name: String(name), limits, ...ordered };
}
