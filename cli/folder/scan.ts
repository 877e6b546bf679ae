/** The files of a watched folder that are to be sent, and what is known of each. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

export const sideSuffix = '.meta.json';
export const markSuffix = '.sent';
/** Programs write to such names, and rename the file when it is complete. */
const unfinished = /\.(part|partial|tmp|temp|crdownload)$/i;

export interface FoundFile {
  readonly file: string;
  readonly path: string;
  readonly sizeBytes: number;
  readonly modifiedAtMs: number;
}

export interface FolderContent {
  readonly files: readonly FoundFile[];
  /** Why other files cannot be sent, by their names. */
  readonly unreadable: ReadonlyMap<string, string>;
}

/** The pause between two scans. Where they take long, the agent must leave the machine and its share to others. */
export const pauseAfterScanMs = (scanMs: number): number => Math.min(Math.max(1_000, 9 * scanMs), 30_000);

/** The folder's files, oldest first; hidden, unfinished and side files are passed over. */
export async function filesOf(folder: string): Promise<FolderContent> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.flatMap((entry) => (entry.isFile() && isWanted(entry.name) ? [entry.name] : []));
  const unreadable = new Map<string, string>();
  const find = async (file: string) => {
    // One file of a share or a disk may be broken: the others are sent.
    const state = await findFile(folder, file).catch(
      (error: Error) => void unreadable.set(file, error.message),
    );
    // A name that is no text is shown with this mark, and the file cannot be opened by it.
    if (state === undefined && file.includes('\ufffd'))
      unreadable.set(file, 'the name is no UTF-8 text. Rename the file to send it.');
    return state ?? [];
  };
  const files = (await Promise.all(names.map(find))).flat();
  return {
    files: files.sort((a, b) => a.modifiedAtMs - b.modifiedAtMs || (a.file < b.file ? -1 : 1)),
    unreadable,
  };
}

function isWanted(name: string): boolean {
  return !(
    name.startsWith('.') ||
    name.endsWith(sideSuffix) ||
    name.endsWith(markSuffix) ||
    unfinished.test(name)
  );
}

/** A file as it is now; undefined when it is not there. */
export async function findFile(folder: string, file: string): Promise<FoundFile | undefined> {
  const path = join(folder, file);
  const state = await stat(path).catch(undefinedIfMissing);
  return state && { file, path, sizeBytes: state.size, modifiedAtMs: state.mtimeMs };
}

/** Undefined for a file that is not there, or cannot be: a long name has no room for a suffix. @throws any other error */
export function undefinedIfMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENAMETOOLONG') throw error;
}

/**
 * The metadata of a file: the named groups of the pattern in its name, and above them the JSON object in `NAME.meta.json`.
 * @returns JSON text; undefined for none
 * @throws Error when the side file cannot be read, or holds no JSON object
 */
export async function metadataOf(
  { file, path }: FoundFile,
  pattern: RegExp | undefined,
): Promise<string | undefined> {
  const text = await readFile(path + sideSuffix, 'utf8').catch(undefinedIfMissing);
  const side = text === undefined ? {} : objectOf(text, file + sideSuffix);
  const metadata = { ...pattern?.exec(file)?.groups, ...side };
  return Object.keys(metadata).length === 0 ? undefined : JSON.stringify(metadata);
}

function objectOf(text: string, name: string): object {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed;
  } catch {
    // Reported below.
  }
  throw new Error(`${name} holds no JSON object.`);
}
