/** What the palette offers, and how it ranks it. Pure: tested without a browser. */

export interface PaletteEntry {
  readonly key: string;
  /** The kind of thing: `Page`, `Session`. */
  readonly kind: string;
  readonly label: string;
  readonly hint?: string;
  readonly act: () => void;
}

/**
 * Entries that have all words of the text, those that begin with it first, then those with a word that does; entries of
 * one rank keep their order.
 */
export function ranked(entries: readonly PaletteEntry[], text: string): PaletteEntry[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const rankOf = ({ kind, label, hint = '' }: PaletteEntry): number | null => {
    const name = label.toLowerCase();
    const all = `${name} ${kind} ${hint}`.toLowerCase();
    if (!words.every((word) => all.includes(word))) return null;
    if (name.startsWith(words.join(' '))) return 0;
    return words.every((word) => ` ${name}`.includes(` ${word}`)) ? 1 : 2;
  };
  return entries
    .flatMap((entry) => {
      const rank = rankOf(entry);
      return rank === null ? [] : [{ entry, rank }];
    })
    .sort((a, b) => a.rank - b.rank)
    .map(({ entry }) => entry);
}
