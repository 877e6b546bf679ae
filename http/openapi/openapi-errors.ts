/** The refusals of a route as its responses: one for each status, with an example of each text. */
import { z } from 'zod';
import type { ZodOpenApiResponseObject } from 'zod-openapi';
import { type CatalogueEntry, catalogue, type ProblemKey } from '../../domain/errors.ts';
import { codedErrorSchema, errorSchema } from '../errors.ts';
import { problemsOf } from '../response-check.ts';
import type { Route } from '../route.ts';
import { exampleOf } from './examples.ts';

type Refusal = { readonly key: ProblemKey; readonly entry: CatalogueEntry };

export function errorResponses(route: Route): Record<`${number}`, ZodOpenApiResponseObject> {
  const byStatus = new Map<number, Refusal[]>();
  for (const key of problemsOf(route)) {
    const entry: CatalogueEntry = catalogue[key];
    const known = byStatus.get(entry.status) ?? [];
    if (!known.some((one) => textOf(route, one.entry) === textOf(route, entry))) known.push({ key, entry });
    byStatus.set(entry.status, known);
  }
  const sorted = [...byStatus].sort(([one], [other]) => one - other);
  return Object.fromEntries(
    sorted.map(([status, refusals]) => [status, errorResponse(route, status, refusals)]),
  );
}

function textOf(route: Route, { code, message }: CatalogueEntry): string {
  return route.errorStyle === 'coded' ? `\`${code}\`: ${message}` : message;
}

function errorResponse(route: Route, status: number, refusals: readonly Refusal[]): ZodOpenApiResponseObject {
  const common = route.errorStyle === 'coded' ? codedErrorSchema : errorSchema;
  const schemas = [...new Set(refusals.map(({ key }) => route.errorBodies?.[key] ?? common))];
  const [first = common, ...others] = schemas;
  return {
    description: refusals.map(({ entry }) => textOf(route, entry)).join(' · '),
    headers: {
      'X-Request-Id': { $ref: '#/components/headers/RequestId' },
      ...(status === 401 ? { 'WWW-Authenticate': { $ref: '#/components/headers/Challenge' } } : {}),
      ...(status === 429 || status === 503 || refusals.some(({ key }) => key === 'idempotencyKeyBusy')
        ? { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } }
        : {}),
    },
    content: {
      'application/json': {
        schema: others.length === 0 ? first : z.union([first, ...others]),
        examples: Object.fromEntries(refusals.map((refusal) => [refusal.key, errorExample(route, refusal)])),
      },
    },
  };
}

function errorExample(route: Route, { key, entry: { code, message } }: Refusal) {
  const own = route.errorBodies?.[key];
  if (own !== undefined) return { value: exampleOf(own) };
  return { value: { status: 'error', ...(route.errorStyle === 'coded' ? { code } : {}), message } };
}
