import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { documentInfo } from '../../../api/docs/info.ts';
import { runnerApiYaml } from '../../../api/docs/runner-api.ts';
import { routes } from '../../../api/routes.ts';
import { openApiDocument } from '../../../http/openapi/openapi.ts';
import { startedApi } from '../../support/api.ts';
import { formalFaults, interfaceDocument, type Json, lookUp, operationsOf } from '../../support/openapi.ts';

const { api } = await startedApi();

const file = (path: string) => readFileSync(fileURLToPath(new URL(path, import.meta.url)), 'utf8');
const published = file('../../../sdk/runner-api.v1.yaml');
const document = parse(published) as Json;
const prefix = '/api/v2/runner/';

describe('runner-api.v1.yaml', () => {
  test('is up to date: `npm run generate:runner-api` would not change it', () => {
    expect(published === runnerApiYaml(openApiDocument(routes, documentInfo))).toBe(true);
  });

  test('is served without a token, as published', async () => {
    for (const version of ['v2', 'v2.0']) {
      const answer = await fetch(`${api.url}/api/${version}/runner/runner-api.v1.yaml`);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([
        200,
        'application/yaml; charset=utf-8',
      ]);
      expect((await answer.text()) === published).toBe(true);
    }
  });

  test('is OpenAPI 3.1 by the schema of its authors, and every schema in it is JSON Schema', () => {
    expect(formalFaults(document)).toEqual([]);
  });

  test('holds every route below /api/v2/runner, word for word as the whole interface has it', () => {
    const whole = interfaceDocument();
    const wanted = operationsOf(whole).filter(({ path }) => path.startsWith(prefix));
    const own = operationsOf(document);
    expect(own.map(({ id }) => id)).toEqual(wanted.map(({ id }) => id));
    for (const { at, id } of wanted) expect([id, lookUp(document, at)]).toEqual([id, lookUp(whole, at)]);
    const routeIds = routes
      .filter((route) => route.path.startsWith(prefix) && !route.hidden)
      .map((route) => route.id);
    expect(own.map(({ id }) => id).sort()).toEqual(routeIds.sort());
  });

  test('is self-contained, and has no unused schema', () => {
    const references = referencesIn(document);
    expect(references.filter((at) => !at.startsWith('#/'))).toEqual([]);
    expect(references.filter((at) => lookUp(document, at.slice(1)) === undefined)).toEqual([]);
    const components = document.components as Record<string, Json>;
    const { securitySchemes, ...others } = components;
    for (const [kind, all] of Object.entries(others)) {
      for (const name of Object.keys(all)) expect(references).toContain(`#/components/${kind}/${name}`);
    }
    const schemes = operationsOf(document).flatMap(({ value }) =>
      (value.security as Json[]).flatMap(Object.keys),
    );
    expect(Object.keys(securitySchemes ?? {}).sort()).toEqual([...new Set(schemes)].sort());
  });

  test('lists every error code of the decisions, and a code for every refusal', () => {
    const codes = new Set<string>();
    for (const { id, value } of operationsOf(document)) {
      for (const [status, response] of Object.entries(value.responses as Record<string, Json>)) {
        if (Number(status) < 400) continue;
        const content = (response.content as Json)['application/json'] as Json;
        for (const { value: body } of Object.values(content.examples as Record<string, { value: Json }>)) {
          expect([id, body]).toEqual([
            id,
            expect.objectContaining({
              status: 'error',
              code: expect.any(String),
              message: expect.any(String),
            }),
          ]);
          codes.add(String(body.code));
        }
      }
    }
    expect([...codes].sort()).toEqual(expect.arrayContaining(listedCodes));
  });
});

/** Decisions 9; `not_found` and `method_not_allowed` belong to no route: they are the answers for unknown routes. */
const listedCodes = [
  ...['invalid_request', 'invalid_output_identifier', 'invalid_output_metadata', 'instance_header_missing'],
  ...['upload_incomplete', 'part_too_small', 'unauthorized', 'forbidden', 'offline_token_refused'],
  ...['scope_missing', 'template_not_allowed', 'task_not_found', 'input_not_found', 'upload_not_found'],
  ...['node_not_found', 'template_unknown', 'output_missing', 'task_finished', 'watermark_regression'],
  ...['watermark_unknown_input', 'output_too_large', 'body_too_large', 'unsupported_media_type', 'internal'],
  'unavailable',
];

function referencesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) =>
    key === '$ref' && typeof part === 'string' ? [part] : referencesIn(part),
  );
}
