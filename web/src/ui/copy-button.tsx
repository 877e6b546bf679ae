import { useState } from 'preact/hooks';
import { Icon } from './icon.tsx';

/** An id as people compare it, all of it one click away. */
export const ShortId = ({ id, of }: { id: string; of: string }) => (
  <span class="short-id">
    <bdi class="mono" title={id}>
      {id.slice(0, 8)}…{id.slice(-4)}
    </bdi>
    <CopyButton text={id} label={`Copy the id of the ${of}`} />
  </span>
);

/** Copies a text, and says for a moment whether that was allowed. */
export function useCopy() {
  const [message, setMessage] = useState('');
  const copy = async (text: string) => {
    try {
      await navigator.clipboard.writeText(text);
      setMessage('Copied');
    } catch {
      setMessage('The browser does not allow copying');
    }
    window.setTimeout(() => setMessage(''), 3000);
  };
  return { message, icon: message === 'Copied' ? 'check' : 'copy', copy } as const;
}

export function CopyButton(props: { text: string; label: string; class?: string }) {
  const { message, icon, copy } = useCopy();
  return (
    <button
      type="button"
      class={props.class ?? 'button button-icon'}
      aria-label={props.label}
      title={props.label}
      onClick={() => void copy(props.text)}
    >
      <Icon name={icon} />
      <span class="visually-hidden" role="status">
        {message}
      </span>
    </button>
  );
}
