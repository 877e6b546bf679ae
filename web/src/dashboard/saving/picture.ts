/** A picture of charts as they stand on the page, with their titles and legends. */
import { drawAll } from '../chart/in-sight.ts';
import { paintSvg } from './paint-svg.ts';

const titleHeight = 36;
const margin = 16;
/** Texts of a chart that belong into the picture. */
const texts = [
  'h2',
  '.chart-lead',
  '.legend-name',
  '.legend-marks',
  '.plot-key > span',
  '.plot-none',
  'figcaption',
  '.cursor-table th',
  '.cursor-table td',
].join();

export async function pictureOf(root: Element, title: string): Promise<Blob> {
  drawAll();
  await Promise.resolve();
  const page = root.ownerDocument;
  const charts = [...(root.matches('.chart') ? [root] : root.querySelectorAll('.chart'))];
  const boxes = charts.map((chart) => chart.getBoundingClientRect());
  if (boxes.length === 0) throw new Error('There are no charts.');
  const left = Math.min(...boxes.map((box) => box.left)) - margin;
  const top = Math.min(...boxes.map((box) => box.top)) - margin - titleHeight;
  const ratio = page.defaultView?.devicePixelRatio ?? 1;
  const picture = page.createElement('canvas');
  picture.width = (Math.max(...boxes.map((box) => box.right)) + margin - left) * ratio;
  picture.height = (Math.max(...boxes.map((box) => box.bottom)) + margin - top) * ratio;
  const context = picture.getContext('2d');
  if (context === null) throw new Error('This browser cannot draw the picture.');
  const style = getComputedStyle(page.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  context.scale(ratio, ratio);
  context.fillStyle = colour('--surface');
  context.fillRect(0, 0, picture.width, picture.height);
  context.fillStyle = colour('--ink');
  context.textBaseline = 'middle';
  context.font = `600 17px ${colour('--font')}`;
  context.fillText(title, margin, margin + titleHeight / 2 - 4);
  context.translate(-left, -top);
  for (const chart of charts) paintChart(context, chart);
  return new Promise((resolve, reject) => {
    picture.toBlob((blob) =>
      blob === null ? reject(new Error('The picture is too large.')) : resolve(blob),
    );
  });
}

/** Each part at its own place. */
function paintChart(context: CanvasRenderingContext2D, chart: Element): void {
  for (const drawn of chart.querySelectorAll<HTMLCanvasElement | HTMLImageElement | HTMLVideoElement>(
    'canvas, img, video',
  )) {
    const { left, top, width, height } = drawn.getBoundingClientRect();
    context.drawImage(drawn, left, top, width, height);
  }
  for (const svg of chart.querySelectorAll('svg')) if (svg.closest('button') === null) paintSvg(context, svg);
  for (const element of chart.querySelectorAll('.text-panel p')) paintLines(context, element);
  for (const element of chart.querySelectorAll(texts)) {
    const { left, right, top, height } = element.getBoundingClientRect();
    const style = getComputedStyle(element);
    const isRight = style.textAlign === 'right';
    const padding = Number.parseFloat(isRight ? style.paddingRight : style.paddingLeft) || 0;
    context.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    context.fillStyle = style.color;
    context.textAlign = isRight ? 'right' : 'left';
    context.textBaseline = 'middle';
    context.fillText(element.textContent, isRight ? right - padding : left + padding, top + height / 2);
  }
}

/** A text of several lines, each where the browser broke it, as far as it is in sight. */
function paintLines(context: CanvasRenderingContext2D, element: Element): void {
  const text = element.firstChild;
  const frame = element.parentElement?.getBoundingClientRect();
  if (text === null || frame === undefined) return;
  const style = getComputedStyle(element);
  context.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  context.fillStyle = style.color;
  context.textAlign = 'left';
  context.textBaseline = 'middle';
  const range = element.ownerDocument.createRange();
  for (const { index, 0: word } of (text.textContent ?? '').matchAll(/\S+/g)) {
    range.setStart(text, index);
    range.setEnd(text, index + word.length);
    const { left, top, bottom } = range.getBoundingClientRect();
    if (bottom <= frame.bottom) context.fillText(word, left, (top + bottom) / 2);
  }
}
