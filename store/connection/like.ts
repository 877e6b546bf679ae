/** A text for a LIKE pattern in which every character stands for itself. */
export function escapeLike(text: string): string {
  return text.replaceAll(/[\\%_]/g, '\\$&');
}
