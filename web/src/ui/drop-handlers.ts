export const carriesFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') === true;

/** Refuses files where nothing takes them: the browser would leave the console to show one. Called once, at the start. */
export function refuseStrayFiles(): void {
  window.addEventListener('dragover', (event) => {
    if (event.defaultPrevented || !carriesFiles(event)) return;
    event.preventDefault();
    event.dataTransfer!.dropEffect = 'none';
  });
}

/** Makes an element accept dropped files. */
export function dropHandlers(setOver: (over: boolean) => void, onFiles: (files: File[]) => void) {
  const accept = (event: DragEvent) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    setOver(true);
  };
  return {
    onDragEnter: accept,
    onDragOver: accept,
    onDragLeave: (event: DragEvent) => {
      const to = event.relatedTarget as Node | null;
      if (!(event.currentTarget as Node).contains(to)) setOver(false);
    },
    onDrop: (event: DragEvent) => {
      event.preventDefault();
      setOver(false);
      const files = [...(event.dataTransfer?.files ?? [])];
      if (files.length > 0) onFiles(files);
    },
  };
}
