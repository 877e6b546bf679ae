/** Around each test file: many share a process, and none may leave anything in it for the next. */
import { flushCompileCache } from 'node:module';
import { afterAll } from 'vitest';

const before = { ...process.env };

afterAll(() => {
  for (const name of Object.keys(process.env)) if (before[name] === undefined) delete process.env[name];
  Object.assign(process.env, before);
  // Else only a process that ends by itself writes it.
  flushCompileCache();
});
