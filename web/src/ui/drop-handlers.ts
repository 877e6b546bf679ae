/** Makes an element accept dropped files. */
export function dropHandlers(setOver: (over: boolean) => void, onFiles: (files: File[]) => void) {
  const carriesFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') === true;
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
