import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { carriesFiles } from '../../ui/drop-handlers.ts';
import { Icon } from '../../ui/icon.tsx';

/** Covers the page while a file is dragged over it, and gets what is dropped outside of a node. */
export function DropOverlay(props: { isOpen: boolean; onFiles: (files: File[]) => void }) {
  const [over, setOver] = useState(false);
  const latest = useRef(props.onFiles);
  latest.current = props.onFiles;
  useLayoutEffect(() => {
    // Each element that the pointer crosses sends an enter and a leave.
    let depth = 0;
    const set = (next: number) => {
      depth = Math.max(0, next);
      setOver(depth > 0);
    };
    const enter = (event: DragEvent) => carriesFiles(event) && set(depth + 1);
    const leave = (event: DragEvent) => carriesFiles(event) && set(depth - 1);
    const allow = (event: DragEvent) => event.preventDefault();
    const drop = (event: DragEvent) => {
      set(0);
      if (event.defaultPrevented) return;
      event.preventDefault();
      const files = [...(event.dataTransfer?.files ?? [])];
      if (files.length > 0) latest.current(files);
    };
    window.addEventListener('dragenter', enter);
    window.addEventListener('dragleave', leave);
    // Before files are refused that nothing takes.
    window.addEventListener('dragover', allow, true);
    window.addEventListener('drop', drop);
    return () => {
      window.removeEventListener('dragenter', enter);
      window.removeEventListener('dragleave', leave);
      window.removeEventListener('dragover', allow, true);
      window.removeEventListener('drop', drop);
    };
  }, []);
  if (!over) return null;
  return (
    <div class={props.isOpen ? 'drop-page' : 'drop-page drop-page-refused'} aria-hidden="true">
      <div>
        <Icon name={props.isOpen ? 'upload' : 'freeze'} />
        <p>{props.isOpen ? 'Drop to upload' : 'The session is frozen and accepts no uploads'}</p>
      </div>
    </div>
  );
}
