import { spawnSync } from 'node:child_process';

const own = 'import sys; print(sys.executable); sys.exit(sys.version_info < (3, 10))';
const { status, stdout } = spawnSync('python3', ['-c', own], { encoding: 'utf8' });

/**
 * The program behind `python3`, or undefined where none runs the Python kit. On machines with several versions `python3` is
 * a script that looks for the program, and needs twice its processor time.
 */
export const pythonProgram = status === 0 ? stdout.trim() : undefined;
