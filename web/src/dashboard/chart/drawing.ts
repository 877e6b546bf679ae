/** What is drawn on a chart beside its curves: cursors that stay, and strips of states. */
import type uPlot from 'uplot';
import type { Annotation } from '../../api.ts';
import { type Marks, sparseLines } from '../marks.ts';
import { stretches } from './curve.ts';

const colours = 8;
const wordMargin = 6;
const labelLines = 4;
const labelHeight = 14;
/** The height of an annotation without room for its label. */
const tickHeight = 6;

/** A line with its letter for each cursor that stays. */
export function drawMarks(chart: uPlot, marks: Marks, originMs: number): void {
  const { ctx, bbox } = chart;
  const colour = getComputedStyle(document.documentElement).getPropertyValue('--accent').trim();
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.fillStyle = colour;
  ctx.lineWidth = ratio;
  ctx.font = `600 ${11 * ratio}px ${fontOf()}`;
  ctx.textBaseline = 'top';
  ctx.textAlign = 'left';
  for (const [name, timeMs] of [
    ['A', marks.a],
    ['B', marks.b],
  ] as const) {
    if (timeMs === null) continue;
    const x = Math.round(chart.valToPos(timeMs - originMs, 'x', true));
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.fillText(name, x + 3 * ratio, bbox.top);
  }
  ctx.restore();
}

interface Placed {
  readonly label: string;
  readonly start: number;
  readonly end: number;
  /** Where the label begins and ends. */
  readonly left: number;
  readonly right: number;
}

/**
 * A band or a line with its label for each annotation in the range. Labels that stand close are written above each other;
 * an annotation whose label has no room is a tick, so that hundreds of them leave the curves in sight.
 */
export function drawAnnotations(chart: uPlot, annotations: readonly Annotation[], originMs: number): void {
  const { ctx, bbox } = chart;
  const ratio = devicePixelRatio;
  beginClipped(chart, 'bottom');
  const placed = annotations.flatMap((annotation) => placedIn(chart, annotation, originMs) ?? []);
  const lines = sparseLines(placed, labelLines, wordMargin * ratio);
  const colour = getComputedStyle(document.documentElement).getPropertyValue('--series-6').trim();
  ctx.fillStyle = colour;
  ctx.strokeStyle = colour;
  ctx.lineWidth = ratio;
  ctx.globalAlpha = 0.14;
  for (const { start, end } of placed)
    ctx.fillRect(start, bbox.top, Math.max(ratio, end - start), bbox.height);
  ctx.globalAlpha = 1;
  for (const [index, { start }] of placed.entries()) {
    const isTick = lines[index] === null;
    ctx.setLineDash(isTick ? [] : [3 * ratio, 3 * ratio]);
    ctx.beginPath();
    ctx.moveTo(start, bbox.top);
    ctx.lineTo(start, bbox.top + (isTick ? tickHeight * ratio : bbox.height));
    ctx.stroke();
  }
  drawLabels(ctx, placed, lines, bbox.top + bbox.height);
  ctx.restore();
}

/** Null: out of the range. */
function placedIn(chart: uPlot, { from, to, label }: Annotation, originMs: number): Placed | null {
  const { ctx, bbox } = chart;
  const right = bbox.left + bbox.width;
  const start = chart.valToPos(Date.parse(from) - originMs, 'x', true);
  const end = to === null ? start : chart.valToPos(Date.parse(to) - originMs, 'x', true);
  if (end < bbox.left || start > right) return null;
  const left = Math.max(bbox.left, start) + 3 * devicePixelRatio;
  const text = fitting(ctx, label, right - left);
  return { label: text, start, end, left, right: left + ctx.measureText(text).width };
}

/** As much of a text as has room. */
function fitting(ctx: CanvasRenderingContext2D, text: string, room: number): string {
  const { width } = ctx.measureText(text);
  if (width <= room) return text;
  let letters = [...text].slice(0, Math.floor((text.length * room) / width));
  while (letters.length > 0 && ctx.measureText(`${letters.join('')}…`).width > room)
    letters = letters.slice(0, -1);
  return letters.length === 0 ? '' : `${letters.join('')}…`;
}

function drawLabels(
  ctx: CanvasRenderingContext2D,
  placed: readonly Placed[],
  lines: readonly (number | null)[],
  bottom: number,
): void {
  const ratio = devicePixelRatio;
  const style = getComputedStyle(document.documentElement);
  const [ground, ink] = ['--surface', '--ink'].map((name) => style.getPropertyValue(name).trim());
  for (const [index, { label, left, right }] of placed.entries()) {
    const line = lines[index] ?? null;
    if (line === null || label === '') continue;
    const lineBottom = bottom - (2 + line * labelHeight) * ratio;
    ctx.globalAlpha = 0.8;
    ctx.fillStyle = ground!;
    ctx.fillRect(
      left - ratio,
      lineBottom - labelHeight * ratio,
      right - left + 2 * ratio,
      labelHeight * ratio,
    );
    ctx.globalAlpha = 1;
    ctx.fillStyle = ink!;
    ctx.fillText(label, left, lineBottom);
  }
}

/** A band for each stretch of one state; a row for each channel. */
export function drawStrips(chart: uPlot, words: readonly string[], areTruths: boolean): void {
  const { ctx, bbox } = chart;
  const style = getComputedStyle(document.documentElement);
  const ratio = devicePixelRatio;
  const rows = chart.series.length - 1;
  const height = bbox.height / rows;
  beginClipped(chart, 'middle');
  for (let row = 0; row < rows; row++) {
    const top = bbox.top + row * height + 2 * ratio;
    for (const { from, to, state } of stretches(chart.data[0], chart.data[row + 1] ?? [])) {
      const left = Math.max(bbox.left, chart.valToPos(from, 'x', true));
      const right = Math.min(bbox.left + bbox.width, chart.valToPos(to, 'x', true));
      if (right < left) continue;
      const isFalse = areTruths && state === 0;
      ctx.fillStyle = style.getPropertyValue(`--series-${((areTruths ? row : state) % colours) + 1}`).trim();
      ctx.globalAlpha = isFalse ? 0.08 : 0.32;
      ctx.fillRect(left, top, Math.max(ratio, right - left), height - 4 * ratio);
      const word = words[state] ?? '';
      if (ctx.measureText(word).width + 2 * wordMargin * ratio > right - left) continue;
      ctx.globalAlpha = 1;
      ctx.fillStyle = style.getPropertyValue('--ink').trim();
      ctx.fillText(word, left + wordMargin * ratio, top + height / 2 - 2 * ratio);
    }
  }
  ctx.restore();
}

/** What is drawn until the next `restore` stays within the curves' area, words begin at their place. */
function beginClipped({ ctx, bbox }: uPlot, textBaseline: CanvasTextBaseline): void {
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.font = `${11 * devicePixelRatio}px ${fontOf()}`;
  ctx.textBaseline = textBaseline;
  ctx.textAlign = 'left';
}

function fontOf(): string {
  return getComputedStyle(document.documentElement).getPropertyValue('--font').trim();
}
