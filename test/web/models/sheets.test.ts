/** Style sheets come with the page that needs them and stay: what one of them says holds on every later page too. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { checkout } from '../../../local/settings.ts';

const source = join(checkout, 'web/src');
const styles = join(source, 'styles');

/** The sheet and those that it imports. */
function withImports(sheet: string): string[] {
  const imports = [...readFileSync(sheet, 'utf8').matchAll(/^@import "(.+)";/gm)];
  return [sheet, ...imports.flatMap(([, name]) => withImports(join(dirname(sheet), name!)))];
}

/** Sheets that are there on every page, from the first on. */
const everywhere = new Set(
  [...readFileSync(join(source, 'main.tsx'), 'utf8').matchAll(/^import '(.+\.css)';/gm)].flatMap(([, name]) =>
    withImports(join(source, name!)),
  ),
);

/** What the sheet comes with: the first page, the dashboards, the runs, or itself. */
function loadedWith(sheet: string): string {
  if (everywhere.has(sheet)) return 'every page';
  const name = relative(styles, sheet);
  return /^(dashboard|runs)\//.exec(name)?.[1] ?? name;
}

/** The classes that a sheet styles wherever they are: those with which a selector begins. */
function ownClasses(sheet: string): string[] {
  const text = readFileSync(sheet, 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '');
  const selectors = [...text.matchAll(/([^{};]+)\{/g)]
    .map(([, list]) => list!.trim())
    .filter((list) => !list.startsWith('@'))
    .flatMap((list) => list.split(/,(?![^(]*\))/));
  return selectors.flatMap((selector) => {
    const [first = ''] = selector.trim().split(/[\s>+~]/);
    const classes = first.match(/\.[\w-]+/g);
    return classes === null ? [] : [classes.join('')];
  });
}

test('sheets that load apart style no class that another one styles', () => {
  // What is for paper or for forced colours alone is said for all of them.
  const sheets = globSync(join(styles, '**/*.css')).filter(
    (sheet) => !/\/(print|forced-colours)\.css$/.test(sheet),
  );
  const owners = new Map<string, Set<string>>();
  for (const sheet of sheets)
    for (const name of ownClasses(sheet))
      owners.set(name, (owners.get(name) ?? new Set()).add(loadedWith(sheet)));
  expect(owners.size).toBeGreaterThan(300);
  expect([...owners].filter(([, from]) => from.size > 1).map(([name, from]) => [name, ...from])).toEqual([]);
});
