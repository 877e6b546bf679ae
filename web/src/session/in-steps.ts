/** What a busy session changes is shown, and read again, no faster than a page can. Pure: tested without a browser. */

/**
 * Shows changes in steps: the first at once, and all that follow within `stepMs` together, by the last of them.
 * @param signal no change is shown after it
 */
export function inSteps<Change>(
  stepMs: number,
  show: (change: Change) => void,
  signal: AbortSignal,
): (change: Change) => void {
  let latest: Change;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let shownAt = Number.NEGATIVE_INFINITY;
  const showLatest = () => {
    timer = undefined;
    if (signal.aborted) return;
    shownAt = Date.now();
    show(latest);
  };
  return (change) => {
    latest = change;
    if (timer !== undefined) return;
    const waitMs = shownAt + stepMs - Date.now();
    if (waitMs <= 0) showLatest();
    else timer = setTimeout(showLatest, waitMs);
  };
}

/** A page of outputs, and the time within which a list of one page is read again. */
const page = 500;
const pageMs = 500;

/** Within what time a list of so many outputs is read again: one of twenty pages as seldom as that costs more. */
export const readAgainMs = (count: number): number => Math.ceil(count / page) * pageMs;

/** Whether a row of a long list shows another value than before. */
export const hasChanged = (before: readonly unknown[], next: readonly unknown[]): boolean =>
  next.some((value, index) => !Object.is(value, before[index]));
