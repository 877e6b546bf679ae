/** A sign-in without a password, on the machine and as the user that `npm start` runs as. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const program = join(import.meta.dirname, '../local/local-token.ts');
const patienceMs = 15_000;

export interface LocalSignIn {
  readonly username: string;
  /** An access token of one hour. */
  readonly token: string;
}

/** Makes a token with the keys of the data folder; undefined when they cannot be read or are not the platform's. */
export async function signInLocally(dataDir: string): Promise<LocalSignIn | undefined> {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [program, dataDir], {
      timeout: patienceMs,
    });
    return JSON.parse(stdout) as LocalSignIn;
  } catch {
    return undefined;
  }
}
