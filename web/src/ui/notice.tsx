import type { ComponentChildren } from 'preact';
import { textOf } from '../http.ts';
import { Icon } from './icon.tsx';

/** A highlighted sentence: an error or a note. Errors are announced at once. */
export function Notice(props: {
  tone: 'error' | 'info' | 'done';
  children: ComponentChildren;
  action?: ComponentChildren;
}) {
  return (
    <div class={`notice notice-${props.tone}`} role={props.tone === 'error' ? 'alert' : 'status'}>
      <Icon name={signs[props.tone]} />
      <div class="notice-text">{props.children}</div>
      {props.action}
    </div>
  );
}

const signs = { error: 'warning', info: 'info', done: 'check' } as const;

/** An error message, with a button to try again. */
export function Failure(props: { error: Error; retry?: () => void; what: string }) {
  return (
    <Notice
      tone="error"
      action={
        props.retry && (
          <button type="button" class="button button-small" onClick={props.retry}>
            Retry
          </button>
        )
      }
    >
      <strong>{props.what}</strong> {textOf(props.error)}
    </Notice>
  );
}

/** Grey bars in place of loading content. */
export function Placeholder(props: { rows: number; label: string }) {
  return (
    <div class="placeholder" role="status" aria-label={props.label}>
      {Array.from({ length: props.rows }, (_, row) => (
        <div key={row} class="placeholder-row" />
      ))}
    </div>
  );
}

/** The text in place of an empty list, or of a whole page, whose heading is the title then. */
export function Empty(props: { title: string; isPage?: boolean; children?: ComponentChildren }) {
  const Title = props.isPage === true ? 'h1' : 'p';
  return (
    <div class="empty">
      <Title class="empty-title">{props.title}</Title>
      {props.children}
    </div>
  );
}
