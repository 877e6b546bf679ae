import { useFilePicker } from './file-picker.tsx';
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
  const picker = useFilePicker({
    label: props.label,
    accept: '.json,application/json',
    onFiles: ([file]) => file !== undefined && props.onFile(file),
  });
  return (
    <>
      <button type="button" class={props.class} disabled={props.disabled} onClick={picker.open}>
        <Icon name="upload" />
        {props.title}
      </button>
      {picker.field}
    </>
  );
}
