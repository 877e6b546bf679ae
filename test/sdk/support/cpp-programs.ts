import { spawnSync } from 'node:child_process';

/** What the build of the C++ example needs and this machine does not have. */
export const missingForCpp: readonly string[] = [
  ['cmake', '--version'],
  ['c++', '--version'],
  ['curl-config', '--version'],
].flatMap(([program = '', option = '']) => (spawnSync(program, [option]).status === 0 ? [] : [program]));
