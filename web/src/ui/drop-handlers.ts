export const carriesFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') === true;

/** Refuses files where nothing takes them: the browser would leave the console to show one. Called once, at the start. */
export function refuseStrayFiles(): void {
  window.addEventListener('dragover', (event) => {
    if (event.defaultPrevented || !carriesFiles(event)) return;
    event.preventDefault();
    if (event.dataTransfer !== null) event.dataTransfer.dropEffect = 'none';
  });
}

/** Makes an element accept dropped files. */
export function dropHandlers(setOver: (over: boolean) => void, onFiles: (files: File[]) => void) {
  return {
    onDragEnter: (event: DragEvent) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      setOver(true);
    },
    onDragOver: (event: DragEvent) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      if (event.dataTransfer !== null) event.dataTransfer.dropEffect = 'copy';
      setOver(true);
    },
    onDragLeave: (event: DragEvent) => {
      const within = event.currentTarget instanceof Node && event.relatedTarget instanceof Node;
      if (within && (event.currentTarget as Node).contains(event.relatedTarget as Node)) return;
      setOver(false);
    },
    onDrop: (event: DragEvent) => {
      event.preventDefault();
      setOver(false);
      const files = [...(event.dataTransfer?.files ?? [])];
      if (files.length > 0) onFiles(files);
    },
  };
}
