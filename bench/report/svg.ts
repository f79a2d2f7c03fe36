// Pieces of SVG and HTML text, and scales from numbers to positions on the page.

export function escape(plain: string): string {
  return plain.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

export interface Scale {
  /** The position of a value. */
  readonly at: (value: number) => number;
  readonly ticks: readonly number[];
}

export function linearScale(most: number, from: number, to: number): Scale {
  const step = niceStep(most / 5);
  const end = Math.ceil(most / step) * step;
  return { at: (value) => from + (value / end) * (to - from), ticks: ticksUntil(end, step) };
}

/** `least` and `most` must be above zero; zero is shown at the lower end. */
export function logScale(least: number, most: number, from: number, to: number): Scale {
  const low = Math.floor(Math.log10(least) + 1e-9);
  const high = Math.max(low + 1, Math.ceil(Math.log10(most) - 1e-9));
  const at = (value: number): number => from + ((Math.max(low, Math.log10(Math.max(value, 1e-12))) - low) / (high - low)) * (to - from);
  return { at, ticks: Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index)) };
}

function niceStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  return ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10) * power;
}

function ticksUntil(end: number, step: number): number[] {
  return Array.from({ length: Math.round(end / step) + 1 }, (_, index) => Number((index * step).toPrecision(12)));
}

export function line(x1: number, y1: number, x2: number, y2: number, kind: string): string {
  return `<line x1="${fixed(x1)}" y1="${fixed(y1)}" x2="${fixed(x2)}" y2="${fixed(y2)}" class="${kind}"/>`;
}

export function text(x: number, y: number, content: string, kind: string): string {
  return `<text x="${fixed(x)}" y="${fixed(y)}" class="${kind}">${escape(content)}</text>`;
}

export function dot(x: number, y: number, radius: number, kind: string, title = ''): string {
  const shown = title === '' ? '' : `<title>${escape(title)}</title>`;
  return `<circle cx="${fixed(x)}" cy="${fixed(y)}" r="${radius}" class="${kind}">${shown}</circle>`;
}

export function picture(width: number, height: number, title: string, content: readonly string[]): string {
  return `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${escape(title)}">${content.join('')}</svg>`;
}

export function number(value: number): string {
  if (value >= 10_000) return `${Number((value / 1000).toPrecision(3))}k`;
  return String(Number(value.toPrecision(3)));
}

function fixed(value: number): string {
  return String(Math.round(value * 10) / 10);
}
