/** A list that is read again and again: rows keep their places until the reader asks for newer ones. */
import { useLayoutEffect, useState } from 'preact/hooks';
import { useEvery, useResource } from '../hooks.ts';
import { type PageOfList, useLastPage } from './paging.tsx';

export const refreshMs = 4000;

/**
 * @param refreshed the rows in their present places, as the answer has them now
 * @param isShown false: another list is shown in its place, and it is read once
 */
export function useRefreshedList<
  Answer extends PageOfList,
  Rows extends { readonly rows: readonly unknown[] },
>(
  key: string,
  read: (signal: AbortSignal) => Promise<Answer>,
  anew: (answer: Answer) => Rows,
  refreshed: (shown: Rows, answer: Answer) => Rows,
  isShown = true,
) {
  const [state, setState] = useState<{ key: string; of: Answer; shown: Rows } | null>(null);
  const list = useLastPage(useResource(key, read, { keepWhileLoading: true }));
  useEvery(refreshMs, isShown, list.reload);
  const show = (answer: Answer, isAnew: boolean) =>
    setState((before) => ({
      key,
      of: answer,
      shown:
        isAnew || before === null || before.key !== key || before.shown.rows.length === 0
          ? anew(answer)
          : refreshed(before.shown, answer),
    }));
  // Before the browser paints: else the count of the answer stands beside the rows of the one before.
  useLayoutEffect(() => {
    // While the next view is loading, the answer is still that of the one before.
    if (list.data !== null && !list.loading && list.data !== state?.of) show(list.data, false);
  }, [list.data, list.loading]);
  return {
    list,
    // The rows of another view are no answer to one that failed.
    shown: state === null || (list.error !== null && state.key !== key) ? null : state.shown,
    showNewer: () => {
      if (list.data !== null) show(list.data, true);
    },
  };
}
