import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { limits } from '../../domain/limits.ts';
import { createApp } from '../../http/app.ts';
import { allPaths } from '../../http/paths.ts';
import type { Route } from '../../http/route.ts';
import type { RouteSet } from '../../http/routing.ts';
import { createLog } from '../../telemetry/log.ts';
import { allRoutes } from '../support/openapi.ts';
import { PathTree } from '../support/path-tree.ts';

/** Every route of the product, answering with what the router found. */
const found: RouteSet = {
  routes: allRoutes,
  middlewares: () => [
    async ({ state, params }) => {
      state.reply = { status: 200, body: { found: 'route', id: state.routeId, params } };
    },
  ],
};
const tree = new PathTree<Route>();
const paths = allRoutes.flatMap((route) => {
  const own = allPaths(route.path, route.aliases ?? [], route.versions ?? 'versioned');
  for (const path of own) tree.add(route.method, path, route);
  return own;
});
const app = createApp({
  routeSets: [found],
  log: createLog({ service: 'test' }, 'silent'),
  shutdown: new AbortController().signal,
});
const options = { maxHeaderSize: limits.headerBytes };
const server = createServer(options, app.callback()).listen(0, '127.0.0.1');
await once(server, 'listening');
const agent = new Agent({ keepAlive: true });
afterAll(() => {
  agent.destroy();
  server.close();
});

async function routerFinds(method: string, path: string) {
  const { port } = server.address() as AddressInfo;
  const sent = request({ port, host: '127.0.0.1', method, path, agent });
  sent.end();
  const [answer] = await once(sent, 'response');
  const allow: string | undefined = answer.headers.allow;
  const body = await json(answer);
  if (answer.statusCode === 405) return { found: 'path', methods: allow?.split(', ') };
  return answer.statusCode === 404 ? { found: 'nothing' } : body;
}

function treeFinds(method: string, path: string) {
  const match = tree.match(method, path);
  return match.found === 'route' ? { found: 'route', id: match.value.id, params: match.params } : match;
}

const words = [...new Set(paths.flatMap((path) => path.split('/')))].filter((word) => !word.startsWith('{'));
const encoded = (text: string) =>
  [...text].map((letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`).join('');
const segment = fc.oneof(
  fc.constantFrom(...words),
  fc.constantFrom(...words).map((word) => encoded(word)),
  fc.constantFrom('7', 'a%2Fb', '%', '%zz', '%2525', 'Projects', '', '.', '..', '%C3%A9', ':id', '*', '{id}'),
);
/** A path of a route, with something in the place of each name, or one segment exchanged. */
const nearPath = fc
  .record({
    path: fc.constantFrom(...paths),
    parts: fc.array(segment, { minLength: 12, maxLength: 12 }),
    at: fc.nat(9),
    end: fc.constantFrom('', '', '/', '//'),
  })
  .map(({ path, parts, at, end }) => {
    const own = path
      .split('/')
      .map((part, index) => (part.startsWith('{') || index === at ? parts[index]! : part));
    return `/${own.slice(1).join('/')}${end}`;
  });
const anyPath = fc.array(segment, { maxLength: 6 }).map((parts) => `/${parts.join('/')}`);
const method = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND');

const examples: [string, string][] = [
  ['POST', '/api/v2/ingest-uploads//'],
  // Each segment that can be decoded is, a word of some route or not.
  ['POST', '/ingest/%/%72etention'],
  ['POST', '/ingest/%/%41'],
];

test('finds for any path the route, parameters and methods that the rules of paths name', async () => {
  await fc.assert(
    fc.asyncProperty(method, fc.oneof(nearPath, nearPath, anyPath), async (verb, path) => {
      expect(await routerFinds(verb, path)).toEqual(JSON.parse(JSON.stringify(treeFinds(verb, path))));
    }),
    { numRuns: 1_000, examples },
  );
});

test('finds the path of a target in absolute form, whatever its host', async () => {
  for (const host of ['elsewhere.example.org', '[bad', 'x:y'])
    expect(await routerFinds('GET', `http://${host}/projects/7`)).toMatchObject({ params: { id: '7' } });
});

test.each(['/', '//a', '/..', '/%2F'])('a path of 30,000 characters of %j has no route', async (part) => {
  const path = part.repeat(30_000 / part.length);
  expect(await routerFinds('GET', path)).toEqual({ found: 'nothing' });
  expect(await routerFinds('GET', `/api/v2/session${path}`)).toEqual({ found: 'nothing' });
});
