/** What the palette offers, and how it ranks it. Pure: tested without a browser. */

export interface PaletteEntry {
  readonly key: string;
  /** The kind of thing: `Page`, `Session`. */
  readonly kind: string;
  readonly label: string;
  readonly hint?: string;
  readonly act: () => void;
}

const maxEntries = 40;

/** What a text finds: hundreds of projects that have it leave room for the few sessions, which come last. */
export function found(
  others: readonly PaletteEntry[],
  sessions: readonly PaletteEntry[],
  text: string,
): PaletteEntry[] {
  const last = ranked(sessions, text);
  return [...ranked(others, text).slice(0, maxEntries - last.length), ...last];
}

/**
 * Entries that have all words of the text: first those that begin with it, then those that contain it as it stands, then
 * those whose words begin so; entries of one rank keep their order.
 */
export function ranked(entries: readonly PaletteEntry[], text: string): PaletteEntry[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const rankOf = ({ kind, label, hint = '' }: PaletteEntry): number | null => {
    const name = label.toLowerCase();
    const all = `${name} ${kind} ${hint}`.toLowerCase();
    if (!words.every((word) => all.includes(word))) return null;
    const place = ` ${name}`.indexOf(` ${words.join(' ')}`);
    if (place >= 0) return place === 0 ? 0 : 1;
    return words.every((word) => ` ${name}`.includes(` ${word}`)) ? 2 : 3;
  };
  return entries
    .flatMap((entry) => {
      const rank = rankOf(entry);
      return rank === null ? [] : [{ entry, rank }];
    })
    .sort((a, b) => a.rank - b.rank)
    .map(({ entry }) => entry);
}
