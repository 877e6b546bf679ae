/** Bytes need the bearer token, which a plain link cannot carry: they are fetched, then passed to the browser. */
export async function saveAnswer(response: Response, nameOf: (response: Response) => string): Promise<void> {
  saveBlob(await response.blob(), nameOf(response));
}

export function saveBlob(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  saveFrom(address, name);
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

/**
 * Lets the browser download what is at an address, of any size, with its own progress and pauses.
 * @param name of the file, where the answer has none
 */
export function saveFrom(address: string, name = ''): void {
  const link = document.createElement('a');
  link.href = address;
  // It stays a download when the answer is an error: the page must not be left for it.
  link.download = name;
  link.click();
}
