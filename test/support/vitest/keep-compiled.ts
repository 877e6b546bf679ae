import { flushCompileCache } from 'node:module';
import { afterAll } from 'vitest';

// Else only a process that ends by itself writes it.
afterAll(() => flushCompileCache());
