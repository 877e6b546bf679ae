/** Values of an author as JSON that the platform accepts. */

/** @throws TypeError for a value without a JSON form, and for a number that JSON cannot hold, with its path */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value);
  if (text === undefined) throw new TypeError('This value has no JSON form.');
  // Such a number became null: only a text with one needs the search.
  if (text.includes('null')) refuseNumbers(value);
  return text;
}

function refuseNumbers(root: unknown): void {
  const paths = new Map<unknown, string>();
  JSON.stringify(root, function (this: unknown, key: string, value: unknown) {
    const above = paths.get(this);
    const path = above === undefined ? '$' : Array.isArray(this) ? `${above}[${key}]` : `${above}.${key}`;
    if (typeof value === 'number' && !Number.isFinite(value))
      throw new TypeError(`JSON has no ${value} (at ${path}); use null for it`);
    if (typeof value === 'object' && value !== null) paths.set(value, path);
    return value;
  });
}
