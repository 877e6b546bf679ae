import type { VNode } from 'preact';
import { useRef } from 'preact/hooks';

/** A hidden field for files, and what opens its dialog; the page has a button of its own for that. */
export function useFilePicker(props: {
  /** The meaning of the files, for screen readers. */
  label: string;
  /** Several may be chosen at once. */
  multiple?: boolean;
  /** Types of files, as the attribute of the field. */
  accept?: string;
  onFiles: (files: File[]) => void;
}): { field: VNode; open: () => void } {
  const input = useRef<HTMLInputElement>(null);
  const field = (
    <input
      ref={input}
      type="file"
      multiple={props.multiple}
      accept={props.accept}
      hidden
      aria-label={props.label}
      onChange={(event) => {
        const files = [...(event.currentTarget.files ?? [])];
        // The same file can be chosen again.
        event.currentTarget.value = '';
        props.onFiles(files);
      }}
    />
  );
  return { field, open: () => input.current?.click() };
}
