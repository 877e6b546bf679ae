/** `X-HTTP-Method-Override`, for routes that declare it: their clients may reach them through what passes only POST on. */
import { METHODS } from 'node:http';
import Router from '@koa/router';
import type { Middleware } from './call.ts';
import { splitTarget } from './paths.ts';
import { pathSegments, pathsOf, patternOf, type RouteSet, routerOptions, routerPath } from './routing.ts';

const header = 'x-http-method-override';
/** As OpenTelemetry writes a method that HTTP does not know. */
const unknownMethod = '_OTHER';

/**
 * Makes a POST the method that its header names, where every route of the path declares `methodOverride`. It runs before
 * all that read the method, so they see only the final one.
 */
export function overridden(sets: readonly RouteSet[]): Middleware {
  const routes = sets.flatMap((set) => set.routes);
  const words = pathSegments(routes.flatMap(pathsOf));
  const router = new Router(routerOptions);
  const closed = new Set<string | RegExp>();
  for (const route of routes)
    for (const pattern of pathsOf(route).map(patternOf)) {
      router.register(pattern, ['POST'], () => undefined);
      if (route.methodOverride !== true) closed.add(pattern);
    }
  const isOpen = (target: string): boolean => {
    const path = routerPath(splitTarget(target).path, words);
    const found = router.match(path, 'POST').path;
    return found.length > 0 && !found.some((layer) => closed.has(layer.path));
  };
  return async (context, next) => {
    const { req } = context;
    const named = req.headers[header];
    if (typeof named !== 'string' || req.method !== 'POST' || !isOpen(req.url ?? '/')) return await next();
    context.method = METHODS.includes(named) ? named : unknownMethod;
    await next();
    // To the client it is the answer of a POST, whose length is that of the bytes that follow.
    if (context.method === 'HEAD') context.length = 0;
  };
}
