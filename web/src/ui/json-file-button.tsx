import { useRef } from 'preact/hooks';
import { Icon } from './icon.tsx';

/** A button that lets a person pick a JSON file. */
export function JsonFileButton(props: {
  /** The text of the button. */
  title: string;
  /** The meaning of the file, for screen readers. */
  label: string;
  class: string;
  disabled?: boolean;
  onFile: (file: File) => void;
}) {
  const picker = useRef<HTMLInputElement>(null);
  return (
    <>
      <button
        type="button"
        class={props.class}
        disabled={props.disabled}
        onClick={() => picker.current?.click()}
      >
        <Icon name="upload" />
        {props.title}
      </button>
      <input
        ref={picker}
        type="file"
        accept=".json,application/json"
        class="visually-hidden"
        tabIndex={-1}
        aria-label={props.label}
        onChange={(event) => {
          const file = event.currentTarget.files?.[0];
          event.currentTarget.value = '';
          if (file !== undefined) props.onFile(file);
        }}
      />
    </>
  );
}
