import { Icon } from './icon.tsx';

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
