/** Room above the chosen entry, below headings: it can be seen that others come before it. */
const abovePx = 60;

/** Scrolls a list that has a height of its own to its chosen entry; the page stays where it is. */
export function scrollToChosen(list: Element | null | undefined, chosen: string): void {
  const entry = list?.querySelector(chosen);
  if (list && entry)
    list.scrollTop = entry.getBoundingClientRect().top - list.getBoundingClientRect().top - abovePx;
}
