import { useState } from 'preact/hooks';
import { Icon } from './icon.tsx';

/** Copies a text, and says whether that was allowed. */
export function CopyButton(props: { text: string; label: string; class?: string }) {
  const [said, setSaid] = useState('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(props.text);
      setSaid('Copied');
    } catch {
      setSaid('The browser does not allow copying');
    }
    window.setTimeout(() => setSaid(''), 3000);
  };
  return (
    <button
      type="button"
      class={props.class ?? 'button button-icon'}
      aria-label={props.label}
      title={props.label}
      onClick={() => void copy()}
    >
      <Icon name={said === 'Copied' ? 'check' : 'copy'} />
      <span class="visually-hidden" role="status">
        {said}
      </span>
    </button>
  );
}
