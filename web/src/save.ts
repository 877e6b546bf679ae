/** Bytes need the bearer token, which a plain link cannot carry: they are fetched, then passed to the browser. */
export async function saveAnswer(response: Response, nameOf: (response: Response) => string): Promise<void> {
  saveBlob(await response.blob(), nameOf(response));
}

export function saveBlob(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** The name that the platform gave the file. */
export function attachmentName(response: Response): string {
  const header = response.headers.get('Content-Disposition') ?? '';
  const encoded = /filename\*=UTF-8''([^;]+)/i.exec(header)?.[1];
  if (encoded !== undefined) {
    try {
      return decodeURIComponent(encoded);
    } catch {
      // The plain name is used instead.
    }
  }
  return /filename="([^"]+)"/i.exec(header)?.[1] ?? 'download';
}

/** How long the frame of an address without an answer is kept. */
const frameMs = 600_000;

/**
 * Lets the browser download what is at an address, of any size, with its own progress and pauses. Not by a link, which
 * shows no error on the page.
 * @param onFailure called when the answer is no file
 */
export function downloadFrom(address: string, onFailure: () => void): void {
  const frame = document.createElement('iframe');
  frame.hidden = true;
  const timer = window.setTimeout(() => frame.remove(), frameMs);
  // A file is no document: what loads is an error.
  frame.onload = () => {
    window.clearTimeout(timer);
    frame.remove();
    onFailure();
  };
  frame.src = address;
  document.body.append(frame);
}
