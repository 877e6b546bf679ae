import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { carriesFiles } from '../../ui/drop-handlers.ts';
import { Icon } from '../../ui/icon.tsx';

/**
 * Browsers report a file that is over the page at least every 550 ms. An element that is removed while a file is over it reports
 * no leave, so that the leave of the page may be missing.
 */
const silenceMs = 1500;

/**
 * Covers the page while a file is dragged over it, and gets what is dropped outside of a node.
 * @param props.refusal why the page takes no file now; null: it takes files
 */
export function DropOverlay(props: { refusal?: string | null; onFiles: (files: File[]) => void }) {
  const { refusal = null } = props;
  const [over, setOver] = useState(false);
  const latest = useRef(props.onFiles);
  latest.current = props.onFiles;
  useLayoutEffect(() => followDrags(setOver, (files) => latest.current(files)), []);
  if (!over) return null;
  return (
    <div class={refusal === null ? 'drop-page' : 'drop-page drop-page-refused'} aria-hidden="true">
      <div>
        <Icon name={refusal === null ? 'upload' : 'freeze'} />
        <p>{refusal ?? 'Drop to upload'}</p>
      </div>
    </div>
  );
}

/** @returns what ends it */
function followDrags(setOver: (over: boolean) => void, onFiles: (files: File[]) => void): () => void {
  let entered: EventTarget | null = null;
  let silence: ReturnType<typeof setTimeout> | undefined;
  const show = (over: boolean) => {
    clearTimeout(silence);
    if (over) silence = setTimeout(setOver, silenceMs, false);
    setOver(over);
  };
  const enter = (event: DragEvent) => {
    if (!carriesFiles(event)) return;
    entered = event.target;
    show(true);
  };
  const leave = (event: DragEvent) => {
    // Each element that the pointer crosses sends one, after the next one was entered.
    if (event.target === entered) show(false);
  };
  const allow = (event: DragEvent) => {
    event.preventDefault();
    if (carriesFiles(event)) show(true);
  };
  const drop = (event: DragEvent) => {
    show(false);
    if (event.defaultPrevented) return;
    event.preventDefault();
    const files = [...(event.dataTransfer?.files ?? [])];
    if (files.length > 0) onFiles(files);
  };
  window.addEventListener('dragenter', enter);
  window.addEventListener('dragleave', leave);
  // Before files are refused that nothing takes.
  window.addEventListener('dragover', allow, true);
  window.addEventListener('drop', drop);
  return () => {
    clearTimeout(silence);
    window.removeEventListener('dragenter', enter);
    window.removeEventListener('dragleave', leave);
    window.removeEventListener('dragover', allow, true);
    window.removeEventListener('drop', drop);
  };
}
