// Subtitles, SubRip and WebVTT: a cue is one text, tags are marks; numbers, times and notes stay.
import { refuse } from './limits.ts';
import { escapeMarkup } from './passage.ts';
import type { Passage, SourceSpan } from './passage.ts';
import { PassageBuilder } from './passage-builder.ts';

type SubtitleKind = 'srt' | 'vtt';

const TIMES = /^\s*(?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3}\s*-->\s*(?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3}/;
/** Of the cue whose times follow. */
const NUMBER = /^\s*\d+\s*$/;
/** White space is text: it ends no cue. */
const EMPTY = /^\r?$/;
/** Elements, times within a cue, entities, and positions as `{\an8}`. */
const TOKENS: Readonly<Record<SubtitleKind, RegExp>> = {
  srt: /<(\/?)([a-z]+)(?:\s[^<>]*)?>|(\{\\[^{}]*\})/gi,
  vtt: /<(\/?)(c|i|b|u|v|lang|ruby|rt)(?:[.\s][^<>]*)?>|(<[\d:.]+>|&(?:lrm|rlm|nbsp);)|(&amp;|&lt;|&gt;)/gi,
};
const DECODED: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>' };

export function subtitles(source: string, kind: SubtitleKind): readonly Passage[] {
  if (kind === 'vtt' && !/^WEBVTT(?:[ \t\r\n]|$)/.test(source)) refuse('the file does not begin with WEBVTT');
  const newLine = source.includes('\r\n') ? '\r\n' : '\n';
  const builder = new PassageBuilder(source, { write: (text) => cueText(text, kind, newLine), collapses: false });
  let cues = 0;
  let inCue = false;
  for (let at = 0, to; at <= source.length; at = to + 1) {
    const line = lineAt(source, at);
    to = at + line.length;
    if (EMPTY.test(line)) {
      // Only the next number with times ends a cue: players show the text after an empty line.
      inCue &&= kind === 'srt';
      builder.flush();
    } else if (TIMES.test(line) && (!inCue || kind === 'srt')) {
      builder.flush();
      inCue = true;
      cues++;
    } else if (inCue && !(kind === 'srt' && NUMBER.test(line) && TIMES.test(lineAt(source, to + 1)))) {
      // With its end, which belongs to the cue.
      addLine(builder, source, { from: at, to: Math.min(to + 1, source.length) }, kind);
    } else {
      builder.flush();
    }
  }
  builder.flush();
  if (cues === 0 && source.trim() !== '' && kind === 'srt') refuse('the file has no line with the times of a subtitle');
  return builder.found.all;
}

/** Without its end. */
function lineAt(source: string, from: number): string {
  const end = source.indexOf('\n', from);
  return source.slice(from, end === -1 ? source.length : end);
}

function addLine(builder: PassageBuilder, source: string, { from, to }: SourceSpan, kind: SubtitleKind): void {
  const line = source.slice(from, to);
  let at = 0;
  const text = (until: number): void => {
    if (until > at) builder.text(line.slice(at, until).replaceAll('\r\n', '\n'), { from: from + at, to: from + until });
  };
  for (const match of line.matchAll(TOKENS[kind])) {
    text(match.index);
    at = match.index + match[0].length;
    const span = { from: from + match.index, to: from + at };
    const [, closes, name, other, entity] = match;
    if (entity !== undefined) builder.text(DECODED[entity.toLowerCase()]!, span);
    else if (other !== undefined) builder.empty(span);
    else if (closes === '/') builder.close(name!.toLowerCase(), span);
    else builder.open(name!.toLowerCase(), span);
  }
  text(line.length);
}

/** An empty line would end the cue, and an arrow begin one. */
function cueText(text: string, kind: SubtitleKind, newLine: string): string {
  const inner = text.replaceAll(/(?:\r?\n)+/g, newLine);
  return kind === 'srt' ? inner.replaceAll('-->', '->') : escapeMarkup(inner);
}
