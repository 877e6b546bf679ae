/** Text that the platform accepts: no NUL, no lone surrogates, bounded. */
export function clip(text: string, maxCharacters: number): string {
  const clean = String(text).replaceAll('\u0000', '').toWellFormed();
  if (clean.length <= maxCharacters) return clean;
  // A cut may split a surrogate pair.
  return `${clean.slice(0, maxCharacters - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
