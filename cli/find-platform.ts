/** Which platform a command speaks to. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface Running {
  readonly address: string;
  readonly temporalUiUrl?: string;
}

/**
 * The platform at this address, else the one that `npm start` runs in this checkout.
 * @throws Error with a sentence for the person when there is none
 */
export async function findPlatform(url: string | undefined): Promise<Running> {
  if (url) return { address: url };
  const folder = process.env.DATA_DIR || join(import.meta.dirname, '../.data');
  try {
    return JSON.parse(await readFile(join(folder, 'running.json'), 'utf8')) as Running;
  } catch {
    throw new Error('No running platform was found. Start one with `npm start`, or name one with --url.');
  }
}
