/** Scales of panels that are no curves over time. Pure: tested without a browser. */
import { formatValue } from '../../format.ts';
import type { Scale } from './model.ts';

const widest = 90;

/** How wide a degree of longitude is, of one of latitude; 1 where the values are no degrees. */
function shrink({ min, max }: Scale): number {
  const isDegrees = min >= -widest && max <= widest;
  return isDegrees ? Math.max(0.01, Math.cos((((min + max) / 2) * Math.PI) / 180)) : 1;
}

const spanOf = ({ min, max }: Scale) => max - min;

function widened(scale: Scale, span: number): Scale {
  const middle = (scale.min + scale.max) / 2;
  return span <= spanOf(scale) ? scale : { min: middle - span / 2, max: middle + span / 2 };
}

/**
 * Longitude and latitude with as many pixels a metre across as up: one of both gets air around it.
 * @param width of the drawing, in pixels
 */
export function toScale(
  { x, y }: { readonly x: Scale; readonly y: Scale },
  width: number,
  height: number,
): { x: Scale; y: Scale } {
  const factor = shrink(y);
  const [across, up] = [(spanOf(x) * factor) / width, spanOf(y) / height];
  return across > up ? { x, y: widened(y, across * height) } : { x: widened(x, (up * width) / factor), y };
}

/** `factor` times as long around its middle. */
export function zoomed({ min, max }: Scale, factor: number): Scale {
  const [middle, half] = [(min + max) / 2, ((max - min) / 2) * factor];
  // Numbers have no more places between them.
  const isTooShort = half <= Math.abs(middle) * 1e-12;
  return isTooShort ? { min, max } : { min: middle - half, max: middle + half };
}

/** Moved by a part of its length. */
export function shifted({ min, max }: Scale, part: number): Scale {
  const by = (max - min) * part;
  return { min: min + by, max: max + by };
}

const maxDigits = 8;
/** Larger numbers are written with an exponent. */
const largest = 1e9;
/** The most marks of an axis, less one. */
const maxSteps = 5;

/** 1, 2 or 5 times a power of ten: at most five of it are within `span`. */
function roundStep(span: number): number {
  const least = span / maxSteps;
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5].find((times) => times * power >= least * (1 - 1e-9)) ?? 10);
}

/** Marks of an axis at round numbers, each with as many digits as distinguish it from its neighbours. */
export function ticksOf({ min, max }: Scale): { value: number; text: string }[] {
  const step = roundStep(max - min);
  const [first, last] = [Math.ceil(min / step - 1e-6), Math.floor(max / step + 1e-6)];
  const digits = Math.min(maxDigits, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
  const isPlain = step >= 10 ** -maxDigits && Math.max(Math.abs(min), Math.abs(max)) < largest;
  return Array.from({ length: Math.min(maxSteps, last - first) + 1 }, (_, index) => {
    const value = (first + index) * step;
    const rounded = Number(value.toFixed(digits));
    const text = isPlain
      ? (rounded === 0 ? 0 : rounded).toLocaleString('en-GB', { maximumFractionDigits: maxDigits })
      : formatValue(value);
    return { value, text };
  });
}
