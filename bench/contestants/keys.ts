// Made-up keys in Lingate's format, the same for every contestant that needs them.
import { createHash } from 'node:crypto';

export function benchKeys(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `la_live_${createHash('sha256').update(`bench ${index}`).digest('hex').slice(0, 40)}`);
}

export function bearer(key: string): string {
  return `Bearer ${key}`;
}
