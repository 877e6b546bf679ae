import { describe, expect, test, vi } from 'vitest';
import { leakedTokenPattern } from '../../domain/access/token-format.ts';
import { ask, startedApi } from '../support/api.ts';
import {
  allOperationsOf,
  allRoutes,
  checkerOf,
  formalFaults,
  interfaceDocument,
  type Json,
  lookUp,
  type Operation,
  operationsOf,
  pointer,
} from '../support/openapi.ts';

const { api } = await startedApi();

const document = interfaceDocument();
const operations = operationsOf(document);
const checker = checkerOf(document, { closed: false });

/** Every row of the route tables of the contract, in its order; names in braces are ours. */
const rows = `
  GET /health_check
  GET /api/v2/health
  POST /api/authorization/offline_token
  GET /api/authorization/offline_token
  DELETE /api/authorization/offline_token/{secretId}
  POST /api/authorization/validate
  POST /api/authorization/token
  POST /api/authorization/revoke
  POST /api/v2/admin/offline-tokens
  GET /api/v2/admin/offline-tokens
  DELETE /api/v2/admin/offline-tokens/{secretId}
  GET /api/v2/session/session_templates
  GET /api/v2/session/session_templates/{sessionTemplateId}
  GET /session_templates
  GET /user_data
  POST /projects
  PUT /projects/{id}
  GET /projects
  GET /projects/{id}
  POST /session
  PATCH /api/v2/sessions/{id}
  GET /api/v2/session
  POST /api/v2/session/shared_session
  POST /api/v2/session/{id}/close
  POST /session/{id}/close
  POST /api/sessions/query
  POST /{sessionId}/scenario_instances
  GET /api/v2/session/{id}/node-instances
  POST /api/v2/node-instance/{nodeInstanceId}/outputs/data
  GET /api/v2/node-instance/{nodeInstanceId}/outputs
  GET /api/v2/node-instance/outputs/{nodeOutputId}/data
  GET /api/v2/node-instance/{nodeInstanceId}/outputs/latest/data
  POST /api/v2/node-instance/{nodeInstanceId}/reprocess
  POST /ingest/{urlPath}
  GET /config/all
  POST /config
  PUT /config/{name}
  GET /api/v2/dashboard/statics/nav
  GET /api/v2/dashboard/dimensions
  GET /api/v2/dashboard/navigation
  GET /api/v2/dashboard/feature-flags
  GET /api/v2/dashboard/reports/catalog
  GET /api/v2/dashboard/reports/download
  GET /api/v2/dashboard/reports/{key}
  POST /api/v2/dashboard/reports
  PUT /api/v2/dashboard/reports/{key}
  POST /api/v2/admin/runner-tokens
  GET /api/v2/admin/runner-tokens
  DELETE /api/v2/admin/runner-tokens/{id}
  POST /api/v2/admin/runner-manifests
  POST /api/v2/runner/manifests/validate
  GET /api/v2/runner/whoami
  POST /api/v2/runner/tasks/claim
  PUT /api/v2/runner/tasks/{taskId}/heartbeat
  GET /api/v2/runner/tasks/{taskId}/inputs
  GET /api/v2/runner/tasks/{taskId}/inputs/{outputId}/data
  GET /api/v2/runner/tasks/{taskId}/state
  POST /api/v2/runner/tasks/{taskId}/outputs
  POST /api/v2/runner/tasks/{taskId}/outputs/uploads
  PUT /api/v2/runner/tasks/{taskId}/outputs/uploads/{handle}/parts/{n}
  POST /api/v2/runner/tasks/{taskId}/outputs/uploads/{handle}/complete
  DELETE /api/v2/runner/tasks/{taskId}/outputs/uploads/{handle}
  PUT /api/v2/runner/tasks/{taskId}/watermark
  PUT /api/v2/runner/tasks/{taskId}/complete
  PUT /api/v2/runner/tasks/{taskId}/fail
  PUT /api/v2/runner/tasks/{taskId}/release
  GET /api/v2/runner/debug/nodes/{nodeInstanceId}/context
  GET /api/v2/runner/debug/nodes/{nodeInstanceId}/inputs
  GET /api/v2/runner/debug/nodes/{nodeInstanceId}/inputs/{outputId}/data
`
  .trim()
  .split('\n')
  .map((row) => row.trim());

const alsoAt = ({ value }: Operation) => (value['x-also-at'] ?? []) as string[];
/** Paths whose parameters may be named otherwise. */
const form = (path: string) => path.replaceAll(/\{\w+\}/g, '{}');

describe('the interface document', () => {
  test('holds every route of the contract', () => {
    const described = new Set(allOperationsOf(document).map(({ method, path }) => `${method} ${form(path)}`));
    const missing = rows.filter((row) => !described.has(form(row)));
    expect(missing).toEqual([]);
  });

  test('marks the earlier forms of paths as deprecated, with their own operation ids', () => {
    const all = allOperationsOf(document);
    const earlier = all.filter(({ value }) => value.deprecated === true);
    expect(earlier.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /session_templates',
      'POST /session/{id}/close',
    ]);
    for (const { id, value } of earlier) {
      const same = operations.find((one) => id === `${one.id}AtEarlierPath`)!;
      expect(value.responses).toEqual(same.value.responses);
    }
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
  });

  test('is OpenAPI 3.1 by the schema of its authors, and every schema in it is JSON Schema', () => {
    expect(formalFaults(document)).toEqual([]);
  });

  test('is served as generated, with every route of the server once and a unique operation id', async () => {
    const served = await ask(api.url, 'GET', '/api/v2/openapi.json');
    expect([served.status, served.body.openapi]).toEqual([200, '3.1.0']);
    expect(served.body).toEqual(document);
    const shown = allRoutes.filter((route) => !route.hidden).map((route) => route.id);
    expect(operations.map(({ id }) => id).sort()).toEqual(shown.sort());
    expect(new Set(shown).size).toBe(shown.length);
  });

  test('is made once, however often it is asked for: it is long, and needs no token', async () => {
    using made = vi.spyOn(JSON, 'stringify');
    await ask(api.url, 'GET', '/api/v2/openapi.json');
    expect(made.mock.calls.filter(([value]) => value?.openapi === '3.1.0')).toEqual([]);
  });

  test('shows the schemas of what streams carry', () => {
    const { schemas } = document.components as Json;
    const names = operations.flatMap(({ value }) =>
      [...String(value.description).matchAll(/`([A-Z]\w+Event)`/g)].map(([, name]) => name),
    );
    expect(names.length).toBeGreaterThan(0);
    expect(Object.keys(schemas as Json)).toEqual(expect.arrayContaining(names));
  });

  test('names parameters as in paths, and every reference in it resolves', () => {
    for (const { id, path, value } of operations) {
      const inPath = (value.parameters as Json[]).filter((each) => each.in === 'path');
      const wanted = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      expect([id, inPath.map(({ name, required }) => [name, required])]).toEqual([
        id,
        wanted.map((name) => [name, true]),
      ]);
    }
    const dangling = referencesIn(document).filter((at) => lookUp(document, at) === undefined);
    expect(dangling).toEqual([]);
  });

  test('has a summary, callers, a tag and parameters for every route', () => {
    const tags = (document.tags as Json[]).map(({ name }) => name);
    const schemes = Object.keys((document.components as Json).securitySchemes as Json);
    const lacks: string[] = [];
    for (const { id, value } of operations) {
      const route = allRoutes.find((one) => one.id === id)!;
      const security = value.security as Json[];
      const names = security.flatMap((one) => Object.keys(one));
      if (!/^[A-Z].*[^.]$/.test(route.summary)) lacks.push(`${id}: a summary without a full stop`);
      if (!/^[A-Z`].*\.$/s.test(route.description ?? '')) lacks.push(`${id}: a description in sentences`);
      if (route.tags.length !== 1 || !tags.includes(route.tags[0]!)) lacks.push(`${id}: a tag of info.ts`);
      if (security.length === 0 && (!route.access.open || route.credentials)) lacks.push(`${id}: security`);
      if (names.some((name) => !schemes.includes(name))) lacks.push(`${id}: a scheme for ${names}`);
      for (const parameter of value.parameters as Json[]) {
        const { name, description, example } = '$ref' in parameter ? referred(parameter) : parameter;
        if (typeof description !== 'string') lacks.push(`${id}: a description of ${name}`);
        if (example === undefined) lacks.push(`${id}: an example of ${name}`);
      }
    }
    expect(lacks).toEqual([]);
  });

  test('declares a schema and a valid example for every body', () => {
    const faults: string[] = [];
    for (const content of contentsOf(operations)) {
      const { examples, example, schema } = content.value;
      const values =
        examples === undefined
          ? [example]
          : Object.values(examples as Json).map((one) => (one as Json).value);
      if (schema === undefined) faults.push(`${content.at}: no schema`);
      for (const value of values) {
        if (value === undefined) faults.push(`${content.at}: no example`);
        else faults.push(checker.fault(`${content.at}/schema`, value) ?? '');
      }
    }
    for (const { at, value } of schemasIn(document, '')) {
      for (const example of (value.examples as unknown[] | undefined) ?? [])
        faults.push(checker.fault(at, example) ?? '');
    }
    for (const { at, value } of operations) {
      for (const [index, parameter] of (value.parameters as Json[]).entries()) {
        if ('$ref' in parameter) continue;
        faults.push(checker.fault(`${at}/parameters/${index}/schema`, parameter.example) ?? '');
      }
    }
    expect(faults.filter((fault) => fault !== '')).toEqual([]);
  });

  test('declares the common responses of every route, with their headers', () => {
    for (const { id, value } of operations) {
      const responses = value.responses as Record<string, Json>;
      expect([id, Object.keys(responses)]).toEqual([
        id,
        expect.arrayContaining(['400', '408', '431', '500', '503']),
      ]);
      for (const [status, { headers, description }] of Object.entries(responses)) {
        expect([id, status, headers]).toMatchObject([id, status, { 'X-Request-Id': {} }]);
        expect(description).toMatch(/./);
        if (status === '401') expect(headers).toHaveProperty('WWW-Authenticate');
      }
    }
  });

  test('publishes the pattern that finds leaked tokens, and the forms of every path', () => {
    const { description } = document.info as { description: string };
    expect(description).toContain(`\`${leakedTokenPattern}\``);
    expect(description).toMatch(/`\/api\/v2`/);
    expect(description).toMatch(/`\/api\/v2\.0`/);
    for (const { path, ...one } of operations) {
      if (path.startsWith('/api/authorization/')) expect(alsoAt({ path, ...one })).toEqual([]);
      else if (path.startsWith('/api/v2/'))
        expect(alsoAt({ path, ...one })).toContain(path.replace('v2', 'v2.0'));
      else {
        const bare = path.replace(/^\/api\//, '/');
        expect(alsoAt({ path, ...one })).toEqual(
          expect.arrayContaining([`/api/v2${bare}`, `/api/v2.0${bare}`]),
        );
      }
    }
  });
});

describe('the page of the reference', () => {
  test('has no scripts, loads nothing from other hosts, and links to every route', async () => {
    const { status, headers, body } = await ask(api.url, 'GET', '/docs');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(body).not.toMatch(/<script|(?:src|href|action)=["']?(?:https?:)?\/\/|@import|url\(/i);
    for (const { id } of operations) {
      expect(body).toContain(`id="${id}"`);
      expect(body).toContain(`href="#${id}"`);
    }
  });
});

function referencesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) =>
    key === '$ref' && typeof part === 'string' ? [part.slice(1)] : referencesIn(part),
  );
}

const referred = (value: Json) => lookUp(document, String(value.$ref).slice(1)) as Json;

/** Bodies of requests and of answers; those without content have none. */
function contentsOf(list: readonly Operation[]): { at: string; value: Json }[] {
  return list.flatMap(({ at, value }) => {
    const responses = Object.entries(value.responses as Json).map(([status, one]) => ({
      at: at + pointer('responses', status, 'content'),
      content: (one as Json).content,
    }));
    const body = {
      at: `${at}/requestBody/content`,
      content: (value.requestBody as Json | undefined)?.content,
    };
    return [body, ...responses].flatMap((one) =>
      Object.entries((one.content ?? {}) as Json).map(([media, content]) => ({
        at: one.at + pointer(media),
        value: content as Json,
      })),
    );
  });
}

/** Every schema with examples. */
function schemasIn(value: unknown, at: string): { at: string; value: Json }[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = Array.isArray((value as Json).examples) ? [{ at, value: value as Json }] : [];
  return [
    ...own,
    ...Object.entries(value).flatMap(([key, part]) =>
      ['example', 'examples', 'value'].includes(key) ? [] : schemasIn(part, at + pointer(key)),
    ),
  ];
}
