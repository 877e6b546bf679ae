/** Where values are drawn on a plot, and which values lie within a box on it. Pure: tested without a browser. */
import type { Scale } from './model.ts';

export const margin = { left: 64, right: 16, top: 24, bottom: 34 };

export const innerWidth = (width: number) => Math.max(1, width - margin.left - margin.right);
export const innerHeight = (height: number) => Math.max(1, height - margin.top - margin.bottom);

export interface Place {
  x: (value: number) => number;
  y: (value: number) => number;
}

export function placer(x: Scale, y: Scale, width: number, height: number): Place {
  const [across, up] = [innerWidth(width), innerHeight(height)];
  return {
    x: (value) => margin.left + ((value - x.min) / (x.max - x.min)) * across,
    y: (value) => margin.top + up - ((value - y.min) / (y.max - y.min)) * up,
  };
}

/** The scales of a box that a person has drawn, in pixels; along an edge that is too short: the whole. */
export function scalesOf(
  box: Box,
  x: Scale,
  y: Scale,
  width: number,
  height: number,
): { x: Scale; y: Scale } | null {
  const across = (left: number) => x.min + ((left - margin.left) / innerWidth(width)) * (x.max - x.min);
  const up = (top: number) => y.max - ((top - margin.top) / innerHeight(height)) * (y.max - y.min);
  const [wide, high] = [Math.abs(box.toX - box.fromX), Math.abs(box.toY - box.fromY)];
  if (Math.max(wide, high) < minDrag) return null;
  const inOrder = (a: number, b: number, whole: Scale): Scale => ({
    min: Math.max(whole.min, Math.min(a, b)),
    max: Math.min(whole.max, Math.max(a, b)),
  });
  return {
    x: wide < minDrag ? x : inOrder(across(box.fromX), across(box.toX), x),
    y: high < minDrag ? y : inOrder(up(box.fromY), up(box.toY), y),
  };
}

export interface Box {
  fromX: number;
  fromY: number;
  toX: number;
  toY: number;
}
const minDrag = 6;
