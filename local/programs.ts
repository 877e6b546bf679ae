import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { PlainError } from './plain-error.ts';

/** Where the three servers are on this machine; a part is absent when the caller brings a server of their own. */
export interface Programs {
  postgres?: { folder: string; runAs?: { uid: number; gid: number } };
  temporal?: string;
  versitygw?: string;
}

/** Which servers the caller brings. */
export interface ReplacedServers {
  postgres: boolean;
  temporal: boolean;
  objectStore: boolean;
}

const bootstrap = fileURLToPath(new URL('./bootstrap.mjs', import.meta.url));
const longestBUILD_MILLISECONDS = 30 * 60_000;

/**
 * Asks the bootstrap for the servers; it finds, builds or copies them. It must run on Node 20, so it is run as a
 * program and not imported. Throws PlainError with its sentence.
 */
export async function findPrograms(replaced: ReplacedServers): Promise<Programs> {
  const without = Object.entries(replaced).flatMap(([name, isReplaced]) => (isReplaced ? [name] : []));
  const running = promisify(execFile)(process.execPath, [bootstrap, 'servers', ...without], {
    timeout: longestBUILD_MILLISECONDS,
  });
  // Its progress is shown, since it may take minutes.
  running.child.stderr?.pipe(process.stderr);
  const { stdout } = await running.catch((error: unknown) => {
    throw new PlainError(
      `The servers could not be prepared. ${(error as { stderr?: string }).stderr?.trim() ?? ''}`,
    );
  });
  return JSON.parse(stdout) as Programs;
}
