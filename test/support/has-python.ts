import { spawnSync } from 'node:child_process';

/** Whether there is a python3 that runs the Python kit. */
export const hasPython =
  spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 10))']).status === 0;
