/** Loads the runner of a module in any folder. */
import { existsSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { basename, extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { defineRunner, isRunner, type Runner, type RunnerDefinition } from './runner.ts';

/** Compiled, all files end in .js. */
const kitEnding = import.meta.url.endsWith('.ts') ? '.ts' : '.js';

/** What a module may import of the kit, and its file. */
const lent = new Map([
  ['@simulation-data-platform/runner', 'index'],
  ['@simulation-data-platform/runner/testing', 'testing'],
]);

/** A runner in its own folder needs no packages: it imports the kit that runs it. */
function lendKit(): void {
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const name = lent.get(specifier);
      if (name === undefined) return nextResolve(specifier, context);
      try {
        return nextResolve(specifier, context);
      } catch {
        return nextResolve(new URL(`../../${name}${kitEnding}`, import.meta.url).href, context);
      }
    },
  });
}

/** There is no such module, or it exports nothing by default that could be a runner. */
export class NoRunnerError extends Error {}

/**
 * Imports a module and returns its default export as a runner: a result of `defineRunner`, its argument, or just the
 * function that works on a task, which then gets all tasks that the token may claim.
 * @throws NoRunnerError; TypeError for an invalid definition; errors of the module
 */
export async function loadRunner(file: string): Promise<Runner> {
  if (!existsSync(file)) throw new NoRunnerError(`There is no file ${file}.`);
  lendKit();
  const module: { readonly default?: unknown } = await import(pathToFileURL(resolve(file)).href);
  const given = module.default;
  if (isRunner(given)) return given;
  const name = basename(file, extname(file));
  if (typeof given === 'function') {
    return defineRunner({ name, templates: [], run: given as RunnerDefinition['run'] });
  }
  if (typeof (given as Partial<RunnerDefinition> | undefined)?.run === 'function') {
    return defineRunner({ name, templates: [], ...(given as Partial<RunnerDefinition>) } as RunnerDefinition);
  }
  throw new NoRunnerError(`${file} does not export a runner by default.`);
}
