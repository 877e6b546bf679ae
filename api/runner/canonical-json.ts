/** JSON text of a parsed body in which the order of names does not matter; absent and undefined are the same. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    // Entries instead of an object: names such as `__proto__` are data.
    return Object.entries(part)
      .filter(([, item]) => item !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1));
  });
}
