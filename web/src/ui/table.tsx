import type { ComponentChildren } from 'preact';

/** A table in its frame. A column is its title, or a heading of its own (`<th>`); `actions` adds one that shows none. */
export function Table(props: {
  /** For screen readers. */
  caption: string;
  columns: ComponentChildren[];
  actions?: boolean;
  /** Newer rows are loading. */
  busy?: boolean;
  /** The rows. */
  children: ComponentChildren;
}) {
  return (
    <div class="table-frame" aria-busy={props.busy}>
      <table class="table">
        <caption class="visually-hidden">{props.caption}</caption>
        <thead>
          <tr>
            {props.columns.map((column) =>
              typeof column === 'string' ? (
                <th key={column} scope="col">
                  {column}
                </th>
              ) : (
                column
              ),
            )}
            {props.actions === true && (
              <th scope="col">
                <span class="visually-hidden">Actions</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>{props.children}</tbody>
      </table>
    </div>
  );
}

/** Figures stand at the right of their column, and so does its heading. */
export const figureColumn = (title: string) => (
  <th key={title} scope="col" class="figure">
    {title}
  </th>
);

/** A column that a narrow window does without, as do its cells of the class `row-spare`. */
export const spareColumn = (title: string, kind: 'figure' | '' = '') => (
  <th key={title} scope="col" class={`row-spare ${kind}`}>
    {title}
  </th>
);
