// The aims as a table for the terminal.
import { textTable } from '../run/text-table.ts';
import type { AimReached } from './aims.ts';

const HEAD = ['', 'aim: at most', 'was', 'now', 'middle half', 'met', ''];

export function aimsTable(reached: readonly AimReached[]): string {
  return textTable(HEAD, reached.map(aimRow));
}

export function aimRow({ what, aim, was, unit, now, isDisturbed }: AimReached): string[] {
  const suffix = unit === '' ? '' : ` ${unit}`;
  const said = [what, `${aim}${suffix}`, `${was}${suffix}`];
  if (now === undefined) return [...said, 'not measured', '', '', ''];
  const { median, low, high } = now;
  return [
    ...said,
    `${median.toFixed(2)}${suffix}`,
    `${low.toFixed(2)}–${high.toFixed(2)}`,
    median <= aim ? 'yes' : 'NO',
    isDisturbed ? 'disturbed' : '',
  ];
}
