import type { ComponentChildren } from 'preact';

/** A panel of the page: its title, its tools beside it, and its content. */
export function PanelSection(props: {
  title: string;
  busy?: boolean;
  tools?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <section class="chart" aria-label={props.title} aria-busy={props.busy}>
      <header class="chart-head">
        <h2>{props.title}</h2>
        {props.tools}
      </header>
      {props.children}
    </section>
  );
}
