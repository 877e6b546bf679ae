import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Resource } from '../hooks.ts';
import { navigate } from '../router.ts';
import { Icon } from './icon.tsx';

export interface PageOfList {
  readonly page: number;
  /** 0 for an empty list. */
  readonly totalPages: number;
}

/** A list whose page is in the address. It opens its last page in place of one past its end, as after a deletion. */
export function useLastPage<Page extends PageOfList>(list: Resource<Page>): Resource<Page> {
  const { data, loading } = list;
  const isPast = data !== null && data.totalPages > 0 && data.page > data.totalPages;
  const within = useRef<Page | null>(null);
  if (!isPast) within.current = data;
  useLayoutEffect(() => {
    if (!isPast || loading) return;
    const { pathname, search } = window.location;
    const query = new URLSearchParams(search);
    query.set('page', String(data.totalPages));
    if (data.totalPages === 1) query.delete('page');
    const text = query.toString();
    navigate(text === '' ? pathname : `${pathname}?${text}`, { replace: true });
  }, [isPast && !loading]);
  return isPast ? { ...list, data: within.current, loading: true } : list;
}

/** Earlier and later pages of a list, and how many entries it has. */
export function Paging(props: {
  page: number;
  totalPages: number;
  summary: string;
  onPage: (page: number) => void;
}) {
  const turn = (page: number) => {
    props.onPage(page);
    // The buttons are below the list: the next page is read from its top.
    window.scrollTo(0, 0);
  };
  return (
    <nav class="paging" aria-label="Pages">
      <span class="faint">{props.summary}</span>
      {props.totalPages > 1 && (
        <div class="paging-buttons">
          <button
            type="button"
            class="button button-small"
            disabled={props.page <= 1}
            onClick={() => turn(props.page - 1)}
          >
            <Icon name="left" />
            Previous
          </button>
          <span aria-live="polite">
            Page {props.page} of {props.totalPages}
          </span>
          <button
            type="button"
            class="button button-small"
            disabled={props.page >= props.totalPages}
            onClick={() => turn(props.page + 1)}
          >
            Next
            <Icon name="right" />
          </button>
        </div>
      )}
    </nav>
  );
}
