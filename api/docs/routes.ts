/**
 * The interface's own description: one OpenAPI document, and a page to browse it that loads nothing from other sites.
 */
import { access } from '../../domain/access/access.ts';
import { jsonObjectOut } from '../../http/schemas.ts';
import { defineRoute } from '../route.ts';
import { documentInfo } from './info.ts';
import { renderReference } from './page.ts';
import { runnerApiYaml } from './runner-api.ts';
import { referenceStyle } from './style.ts';

const tags = ['Reference'];

/** Made once: the document has more than a megabyte, and everyone may ask for it. */
const documents = new WeakMap<object, Buffer>();

const openApiRoute = defineRoute({
  id: 'openApiDocument',
  method: 'GET',
  path: '/api/v2/openapi.json',
  summary: 'Returns this interface as an OpenAPI 3.1 document',
  description:
    'Generated from the schemas that validate requests and responses. A readable page is at `/docs`.',
  tags,
  access: access.open,
  responses: {
    200: {
      description: 'The document.',
      media: 'application/json',
      schema: jsonObjectOut().meta({
        example: { openapi: '3.1.0', info: { title: documentInfo.title, version: documentInfo.version } },
      }),
    },
  },
  handler({ services }) {
    const document = services.reference();
    const bytes = documents.get(document) ?? Buffer.from(JSON.stringify(document));
    documents.set(document, bytes);
    return {
      status: 200,
      stream: bytes,
      headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-cache' },
    };
  },
});

const contracts = new WeakMap<object, Buffer>();

const runnerApiRoute = defineRoute({
  id: 'runnerApiDocument',
  method: 'GET',
  path: '/api/v2/runner/runner-api.v1.yaml',
  summary: 'Returns only the runner routes as an OpenAPI 3.1 document',
  description: 'For authors of runners. Generated from the schemas that validate requests and responses.',
  tags,
  access: access.open,
  responses: {
    200: { description: 'The document.', media: 'application/yaml', example: 'openapi: 3.1.0\n' },
  },
  errorStyle: 'coded',
  handler({ services }) {
    const document = services.reference();
    const contract = contracts.get(document) ?? Buffer.from(runnerApiYaml(document));
    contracts.set(document, contract);
    return {
      status: 200,
      stream: contract,
      headers: { 'content-type': 'application/yaml; charset=utf-8', 'cache-control': 'no-cache' },
    };
  },
});

const stylePath = '/docs/style.css';
const pages = new WeakMap<object, Buffer>();
const style = Buffer.from(referenceStyle);

const docsRoute = defineRoute({
  id: 'docs',
  method: 'GET',
  path: '/docs',
  versions: 'as-listed',
  hidden: true,
  summary: 'Returns the reference as a page',
  tags,
  access: access.open,
  responses: { 200: { description: 'The page.', media: 'text/html' } },
  handler({ services }) {
    const document = services.reference();
    const page = pages.get(document) ?? Buffer.from(renderReference(document, stylePath));
    pages.set(document, page);
    return {
      status: 200,
      stream: page,
      headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' },
    };
  },
});

const docsStyleRoute = defineRoute({
  id: 'docsStyle',
  method: 'GET',
  path: stylePath,
  versions: 'as-listed',
  hidden: true,
  summary: 'Returns the style sheet of the page',
  tags,
  access: access.open,
  responses: { 200: { description: 'The style sheet.', media: 'text/css' } },
  handler: () => ({
    status: 200,
    stream: style,
    headers: { 'content-type': 'text/css; charset=utf-8', 'cache-control': 'no-cache' },
  }),
});

export const docsRoutes = [openApiRoute, runnerApiRoute, docsRoute, docsStyleRoute];
