/** Comparing values as JSON. */
import { isJsonObject } from './text.ts';

/** Whether two values are the same JSON, whatever the order of fields. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => isSameJson(item, b[index]));
  if (!isJsonObject(a) || !isJsonObject(b)) return a === b;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isSameJson(a[name], b[name]))
  );
}
