import { fileURLToPath } from 'node:url';

/** Where Node keeps what it has compiled: hundreds of processes of a test run load the same sources. */
export const compileCache = fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url));
