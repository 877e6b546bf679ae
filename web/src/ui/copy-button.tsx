import { useState } from 'preact/hooks';
import { Icon } from './icon.tsx';

/** Copies a text, and says whether that was allowed. */
export function CopyButton(props: { text: string; label: string; class?: string }) {
  const [message, setMessage] = useState('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(props.text);
      setMessage('Copied');
    } catch {
      setMessage('The browser does not allow copying');
    }
    window.setTimeout(() => setMessage(''), 3000);
  };
  return (
    <button
      type="button"
      class={props.class ?? 'button button-icon'}
      aria-label={props.label}
      title={props.label}
      onClick={() => void copy()}
    >
      <Icon name={message === 'Copied' ? 'check' : 'copy'} />
      <span class="visually-hidden" role="status">
        {message}
      </span>
    </button>
  );
}
