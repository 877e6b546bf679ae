/** A table in Markdown, padded by nothing: its source is made and read by programs. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll(/\s*\n\s*/g, ' ');

export const code = (text: string) => `\`${text}\``;

/** The first comment of every generated page. */
export const generated = '<!-- Made from the code by `npm run generate:reference`; do not edit. -->\n';
