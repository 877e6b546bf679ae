/** Paints the shapes of an SVG on a canvas: as an image it would be refused by the content security policy. */

type Context = CanvasRenderingContext2D;
const shapes = 'path, line, rect, circle, text';
const number = (element: Element, name: string) => Number(element.getAttribute(name) ?? 0);

/** At its place on the page. It has as many units as pixels. */
export function paintSvg(context: Context, svg: SVGSVGElement): void {
  const { left, top } = svg.getBoundingClientRect();
  context.save();
  context.translate(left, top);
  for (const shape of svg.querySelectorAll<SVGGraphicsElement>(shapes)) {
    const style = getComputedStyle(shape);
    if (shape.closest('clipPath') !== null || style.visibility === 'hidden') continue;
    context.save();
    clip(context, shape.closest('[clip-path]'));
    const moved = shape.transform.baseVal.consolidate()?.matrix;
    if (moved !== undefined) context.translate(moved.e, moved.f);
    paint(context, shape, style);
    context.restore();
  }
  context.restore();
}

function clip(context: Context, clipped: Element | null): void {
  const id = /#([^)"]+)/.exec(clipped?.getAttribute('clip-path') ?? '')?.[1];
  const frame =
    id === undefined ? null : (clipped?.ownerDocument.getElementById(id)?.firstElementChild ?? null);
  if (frame === null) return;
  context.beginPath();
  context.rect(number(frame, 'x'), number(frame, 'y'), number(frame, 'width'), number(frame, 'height'));
  context.clip();
}

function paint(context: Context, shape: Element, style: CSSStyleDeclaration): void {
  if (shape.localName === 'text') {
    const anchor = shape.getAttribute('text-anchor');
    context.font = `${style.fontSize} ${style.fontFamily}`;
    context.textBaseline = 'alphabetic';
    context.textAlign = anchor === 'end' ? 'right' : anchor === 'middle' ? 'center' : 'left';
    context.fillStyle = style.fill;
    context.fillText(shape.textContent, number(shape, 'x'), number(shape, 'y'));
    return;
  }
  const path = outline(shape);
  if (style.fill !== 'none') {
    context.globalAlpha = Number(style.fillOpacity);
    context.fillStyle = style.fill;
    context.fill(path);
  }
  if (style.stroke === 'none') return;
  context.globalAlpha = Number(style.strokeOpacity);
  context.strokeStyle = style.stroke;
  context.lineWidth = Number.parseFloat(style.strokeWidth) || 1;
  context.lineCap = style.strokeLinecap as CanvasLineCap;
  context.setLineDash(
    style.strokeDasharray === 'none' ? [] : style.strokeDasharray.split(/[\s,]+/).map(Number.parseFloat),
  );
  context.stroke(path);
}

function outline(shape: Element): Path2D {
  const at = (name: string) => number(shape, name);
  if (shape.localName === 'path') return new Path2D(shape.getAttribute('d') ?? '');
  const path = new Path2D();
  if (shape.localName === 'line') {
    path.moveTo(at('x1'), at('y1'));
    path.lineTo(at('x2'), at('y2'));
  } else if (shape.localName === 'rect') path.rect(at('x'), at('y'), at('width'), at('height'));
  else path.arc(at('cx'), at('cy'), at('r'), 0, 2 * Math.PI);
  return path;
}
