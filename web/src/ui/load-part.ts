/**
 * How the parts of the console are loaded: the build puts this in place of Vite's own helper around each `import()`.
 *
 * A browser may remember that a script could not be fetched, and then refuses every later import of it until the page
 * is loaded again; Firefox does. So the files of a part are read by `fetch`, which may be repeated, before they are
 * imported: the import then finds them in the cache, where they stay for ever, as their names have the hash of their content.
 */

const fetched = new Map<string, Promise<void>>();

/** @param files addresses of the part's script, of those that it imports, and of their styles */
export async function loadPart<Part>(
  importPart: () => Promise<Part>,
  files: readonly string[] = [],
): Promise<Part> {
  await Promise.all(files.map((file) => once(`/${file}`)));
  return importPart();
}

/** Fetches a file unless it is here; what failed is fetched again by the next part that needs it. */
function once(address: string): Promise<void> {
  const known = fetched.get(address) ?? (isInDocument(address) ? Promise.resolve() : null);
  if (known !== null) return known;
  const fetching = address.endsWith('.css') ? addStyles(address) : readScript(address);
  fetched.set(address, fetching);
  fetching.catch(() => fetched.delete(address));
  return fetching;
}

const isInDocument = (address: string) =>
  document.querySelector(`link[href="${address}"], script[src="${address}"]`) !== null;

async function readScript(address: string): Promise<void> {
  // In the mode of an import, so that the cache has one answer for both.
  const answer = await fetch(address, { credentials: 'same-origin' });
  if (!answer.ok) throw new Error(`${address} was answered by ${answer.status}.`);
  await answer.arrayBuffer();
  // Several at once: an import finds what a script imports only once it has read that script.
  addLink('modulepreload', address);
}

function addStyles(address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const link = addLink('stylesheet', address);
    link.onload = () => resolve();
    link.onerror = () => {
      link.remove();
      reject(new Error(`${address} could not be fetched.`));
    };
  });
}

function addLink(rel: 'modulepreload' | 'stylesheet', address: string): HTMLLinkElement {
  const link = document.createElement('link');
  link.rel = rel;
  link.href = address;
  document.head.append(link);
  return link;
}
