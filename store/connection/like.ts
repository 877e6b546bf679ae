/** A text for a LIKE pattern in which every character is literal. */
export function escapeLike(text: string): string {
  return text.replaceAll(/[\\%_]/g, '\\$&');
}
