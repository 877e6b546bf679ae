import { beforeAll, expect, test } from 'vitest';
import { bundleSources, workflowBundle } from '../../worker/bundle.ts';
import { workflowTypes } from '../../workflows/contract.ts';

let code: string;
let modules: readonly string[];
beforeAll(async () => {
  ({ code } = await workflowBundle());
  modules = modulesIn(code);
});

/** The files in the bundle, from the source map at its end. */
function modulesIn(bundle: string): readonly string[] {
  const marker = 'sourceMappingURL=data:application/json;charset=utf-8;base64,';
  const begin = bundle.lastIndexOf(marker);
  if (begin < 0) throw new Error('The bundle has no source map.');
  const map: unknown = JSON.parse(
    Buffer.from(bundle.slice(begin + marker.length).trim(), 'base64').toString(),
  );
  return (map as { sources: string[] }).sources;
}

test('the bundle builds from the current sources and has the workflows of all sessions', () => {
  expect(modules.some((name) => name.endsWith('workflows/session-run.ts'))).toBe(true);
  expect(code).toContain(workflowTypes.session);
});

/** The platform's own files in the bundle, relative to the checkout. */
const ownModules = () =>
  modules
    .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'))
    .map((name) => name.replace(/^.*?\/(?=(workflows|domain|store|activities|worker|api|http|auth)\/)/, ''));

test('a kept bundle is made anew after a change of any of its files', () => {
  const sources = new Set(bundleSources());
  expect(ownModules().filter((file) => !sources.has(file))).toEqual([]);
});

test('nothing of the database, of activities or of servers gets into workflows', () => {
  const ours = ownModules();
  expect(ours.filter((name) => !/^(workflows|domain)\//.test(name))).toEqual([]);
  expect(ours).not.toContain('workflows/client.ts');
});

test('the bundle uses no Node module, which workflows may not have', () => {
  expect(modules.filter((name) => /external ["']?node:|^node:/.test(name))).toEqual([]);
  expect(code.match(/require\(["']node:[a-z/]+["']\)|from ["']node:[a-z/]+["']/g) ?? []).toEqual([]);
});
