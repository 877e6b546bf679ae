import type { ComponentChildren } from 'preact';

/** A panel of the page: its title, its tools beside it, and its content. */
export function PanelSection(props: {
  title: string;
  /** Follows the title in the name of the region: no two have the same. */
  place: string;
  busy?: boolean;
  tools?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <section class="chart" aria-label={props.title + props.place} aria-busy={props.busy}>
      <header class="chart-head">
        <h2>{props.title}</h2>
        {props.tools}
      </header>
      {props.children}
    </section>
  );
}
