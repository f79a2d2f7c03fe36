// The whole table.
import { beyondAsciiCases } from './cases-beyond-ascii.ts';
import { chunkCases } from './cases-chunks.ts';
import { connectionCases } from './cases-connections.ts';
import { fieldCases } from './cases-fields.ts';
import { framingCases } from './cases-framing.ts';
import { hostCases } from './cases-host.ts';
import { limitCases } from './cases-limits.ts';
import { methodCases } from './cases-methods.ts';
import { pathCases } from './cases-paths.ts';
import { requestLineCases } from './cases-request-line.ts';
import type { HttpCase } from './notation.ts';

export const CASES: readonly HttpCase[] = [
  ...framingCases,
  ...chunkCases,
  ...fieldCases,
  ...requestLineCases,
  ...hostCases,
  ...beyondAsciiCases,
  ...methodCases,
  ...pathCases,
  ...limitCases,
  ...connectionCases,
];
