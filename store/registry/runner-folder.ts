/** The folder that the operator fills with the modules of deployed runners (decisions 10). */
import { realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { isEntrypointName } from '../../domain/runners/manifest-fields.ts';
import type { EntrypointPlace } from '../../domain/runners/manifest-runner-types.ts';

export type FoundEntrypoint =
  /** `path` without symbolic links. */
  | { readonly place: Extract<EntrypointPlace, 'there'>; readonly path: string }
  | { readonly place: Exclude<EntrypointPlace, 'there'> };

/**
 * Looks an entrypoint up. Symbolic links within the folder are followed; one that leaves it is `outside`. One that is
 * no file, or cannot be read, is `missing`.
 */
export async function findEntrypoint(folder: string, name: string): Promise<FoundEntrypoint> {
  if (!isEntrypointName(name)) return { place: 'outside' };
  try {
    const root = await realpath(folder);
    const path = await realpath(join(root, name));
    if (!path.startsWith(root.endsWith(sep) ? root : root + sep)) return { place: 'outside' };
    return (await stat(path)).isFile() ? { place: 'there', path } : { place: 'missing' };
  } catch {
    return { place: 'missing' };
  }
}
