import { fileURLToPath } from 'node:url';

const cached = (name: string) => fileURLToPath(new URL(`../../node_modules/.cache/${name}`, import.meta.url));

/** Where Node keeps what it has compiled: hundreds of processes of a test run load the same sources. */
export const compileCache = cached('compiled');
/** Bundling the workflows needs seconds; all files and test runs of this checkout share the result. */
export const workflowCache = cached('workflows');
