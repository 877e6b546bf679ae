/** The start of processes that read files of strangers. */
import { type ChildProcess, fork } from 'node:child_process';

/**
 * Starts a program of ours that reads untrusted files. It gets nothing of this process's environment but the folder in
 * which Node keeps what it has compiled: without that the program's start takes twice as long. The program fills the
 * folder with `flushCompileCache`, since it is often killed and Node saves only at an orderly end.
 * @param flags of Node and V8
 */
export function forkReader(path: string, args: readonly string[], flags: readonly string[]): ChildProcess {
  const { NODE_COMPILE_CACHE } = process.env;
  return fork(path, args, {
    env: NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE },
    execArgv: [...flags, '--disable-warning=ExperimentalWarning'],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}
