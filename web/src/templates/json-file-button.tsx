import { useLayoutEffect, useRef } from 'preact/hooks';
import { carriesFiles } from '../ui/drop-handlers.ts';
import { useFilePicker } from '../ui/file-picker.tsx';
import { Icon } from '../ui/icon.tsx';

/** A button that lets a person pick a JSON file. While it is there, a file may be dropped anywhere on the page, too. */
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
  const latest = useRef(props);
  latest.current = props;
  useLayoutEffect(() => {
    const over = (event: DragEvent) => carriesFiles(event) && event.preventDefault();
    const drop = (event: DragEvent) => {
      const file = event.dataTransfer?.files[0];
      if (file === undefined) return;
      event.preventDefault();
      if (latest.current.disabled !== true) latest.current.onFile(file);
    };
    // Before files are refused that nothing takes.
    window.addEventListener('dragover', over, true);
    window.addEventListener('drop', drop);
    return () => {
      window.removeEventListener('dragover', over, true);
      window.removeEventListener('drop', drop);
    };
  }, []);
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
