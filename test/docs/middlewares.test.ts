import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const between = (text: string, from: string, to: string) => text.split(from)[1]!.split(to)[0]!;
/** Names of functions, each the first word of an item. */
const names = (list: string) =>
  [
    ...list.matchAll(/^\s*(?:\.use\(|\.\.\.\(acquireShare === undefined \? \[\] : \[)?(?:\.\.\.)?(\w+)/gm),
  ].map(([, name]) => name!);

test('the page of middlewares lists them in the order in which a request passes them', () => {
  const app = read('http/app.ts');
  const own = between(read('api/start.ts'), 'middlewares: [', ']')
    .split(/,\s/)
    .map((item) => item.trim().split('(')[0]!)
    .filter(Boolean);
  const ofRoute = names(between(app, 'const list: readonly RouteMiddleware[] = [', '  ];'));
  const inCode = [
    ...names(between(app, '  return app', ';')),
    ...ofRoute.flatMap((name) => (name === 'middlewares' ? own : [name])),
  ];
  const page = read('docs/architecture/016-one-list-of-middlewares.md');
  const rows = [...page.matchAll(/^\| (\d+) \| `(\w+)`/gm)];
  expect(rows.map(([, number]) => Number(number))).toEqual(rows.map((_, index) => index + 1));
  expect(rows.map(([, , name]) => name)).toEqual(inCode);
});
