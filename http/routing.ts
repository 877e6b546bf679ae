/** The routes in @koa/router, behind an index. */
import { METHODS } from 'node:http';
import Router, { type RouterContext } from '@koa/router';
import type { Call, Middleware } from './call.ts';
import { idsInPath } from './log-fields.ts';
import { allPaths } from './paths.ts';
import type { Route } from './route.ts';

/** Routes of one service, with the middlewares that run for each of them. */
export type RouteSet = {
  readonly routes: readonly Route[];
  readonly middlewares: (route: Route) => readonly Middleware[];
  /** For every other request below a path, whatever its method. */
  readonly others?: { readonly below: string; readonly middleware: Middleware };
};

type Entry = {
  readonly methods: readonly string[];
  /** As routes write it: `{name}` for one segment, `{name+}` for the rest of the path. */
  readonly path: string;
  readonly stack: readonly Middleware[];
};
type Matching = RouterContext<Call>;

/** How each router of ours compares paths. */
export const routerOptions = { sensitive: true, strict: true } as const;

/**
 * Finds the route of a request and runs its middlewares; a request without a route goes to the next middleware, with
 * the matches of its path in `context.matched`. Words win over `{name}`, which wins over `{name+}`.
 *
 * A router tries its paths one after the other. So there is one router for each literal prefix, and a request tries the
 * few routers whose prefix it has, the longest first.
 * @throws Error when two routes claim the same method and path, or the same id
 */
export function routed(sets: readonly RouteSet[]): Middleware {
  const entries = sets.flatMap(entriesOf);
  refuseTwins(sets, entries);
  const words = pathSegments(entries.map(({ path }) => path));
  const routers = new Map<string, Router<Call>>();
  for (const { methods, path, stack } of entries.sort(byKinds)) {
    const beginning = path.split('/{', 1)[0] ?? '';
    const router = routers.get(beginning) ?? new Router<Call>(routerOptions);
    routers.set(beginning, router);
    router.register(patternOf(path), [...methods], [...stack]);
  }
  const index = new Map([...routers].map(([beginning, router]) => [beginning, router.routes()]));
  const longest = Math.max(0, ...[...index.keys()].map(({ length }) => length));
  return (context, next) => {
    const matching = context as unknown as Matching;
    const path = routerPath(context.state.path, words);
    matching.newRouterPath = path;
    matching.matched = [];
    const goOn = (from: string | undefined): Promise<unknown> => {
      let beginning = from;
      while (beginning !== undefined && !index.has(beginning)) beginning = shorter(beginning);
      const router = beginning === undefined ? undefined : index.get(beginning);
      return router === undefined ? next() : router(matching, () => goOn(shorter(beginning!)));
    };
    // A path of thousands of slashes has as many beginnings, each as long as it.
    return goOn(path.length > longest ? shorter(path.slice(0, longest + 1)) : path);
  };
}

function entriesOf({ routes, middlewares, others }: RouteSet): Entry[] {
  const own = routes.flatMap((route) => {
    const stack = [found(route), ...middlewares(route)];
    return pathsOf(route).map((path) => ({ methods: [route.method], path, stack }));
  });
  if (others === undefined) return own;
  const { below, middleware } = others;
  return [
    ...own,
    ...[below, `${below}/{rest+}`].map((path) => ({ methods: METHODS, path, stack: [middleware] })),
  ];
}

/** Every path at which a route answers. */
export const pathsOf = ({ path, aliases = [], versions = 'versioned' }: Route): string[] =>
  allPaths(path, aliases, versions);

/** The segments of paths as routes write them. */
export const pathSegments = (paths: readonly string[]): ReadonlySet<string> =>
  new Set(paths.flatMap((path) => path.split('/')));

/** Notes the route that was found. */
function found(route: Route): Middleware {
  return ({ state, params }, next) => {
    state.route = route;
    state.routeId = route.id;
    state.facts.note(idsInPath(route.path, params));
    return next();
  };
}

function refuseTwins(sets: readonly RouteSet[], entries: readonly Entry[]): void {
  const ids = new Set<string>();
  for (const { id } of sets.flatMap(({ routes }) => routes)) {
    if (ids.has(id)) throw new Error(`Two routes are named ${id}.`);
    ids.add(id);
  }
  const claims = new Set<string>();
  for (const { methods, path } of entries) {
    const claim = `${methods.join()} ${path.replaceAll(/\{\w+(\+?)\}/g, '{$1}')}`;
    if (claims.has(claim)) throw new Error(`Two routes answer ${methods.join()} ${path}.`);
    claims.add(claim);
  }
}

const kindOf = (segment: string) => (segment.endsWith('+}') ? 2 : segment.startsWith('{') ? 1 : 0);
const kindsOf = ({ path }: Entry) => path.split('/').map(kindOf).join('');
const byKinds = (one: Entry, other: Entry) => kindsOf(one).localeCompare(kindsOf(other));

/** The path in the syntax of @koa/router. */
export const patternOf = (path: string) =>
  path.replaceAll(/\{(\w+)\+\}/g, '*$1').replaceAll(/\{(\w+)\}/g, ':$1');

/** `/a/b` of `/a/b/c`; undefined when nothing is left. */
function shorter(path: string): string | undefined {
  const at = path.lastIndexOf('/');
  return at < 0 ? undefined : path.slice(0, at);
}

/**
 * The path without a slash at its end, and with words as routes write them: `%70rojects` is `projects`. A segment that
 * cannot be decoded is encoded, so that it comes back as it is and the others beside it decoded.
 */
export function routerPath(path: string, words: ReadonlySet<string>): string {
  const trimmed = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
  if (!trimmed.includes('%')) return trimmed;
  const plain = trimmed.split('/').map((segment) => {
    const word = decoded(segment);
    if (word === null) return segment.replaceAll('%', '%25');
    return words.has(word) ? word : segment;
  });
  return plain.join('/');
}

/** Null for a segment that cannot be decoded. */
function decoded(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}
