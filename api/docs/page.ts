/** The API reference as one HTML page: no scripts, nothing loaded from elsewhere. */
import type { OpenApiDocument } from '../../http/openapi/openapi.ts';

type Json = { readonly [key: string]: unknown };
type Operation = {
  readonly method: string;
  readonly path: string;
  readonly id: string;
  readonly value: Json;
};

/** Everything that came from schemas passes through `escaped`. */
export function renderReference(document: OpenApiDocument, stylePath: string): string {
  const operations = operationsOf(document);
  const named = (document.tags ?? []).map((tag) => tag.name);
  const tags = [...new Set([...named, ...operations.map(tagOf)])].filter((name) =>
    operations.some((operation) => tagOf(operation) === name),
  );
  const schemas = Object.entries((document.components?.schemas ?? {}) as Json);
  const title = escaped(document.info.title);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} API</title><link rel="stylesheet" href="${stylePath}"></head><body>
<nav aria-label="Contents"><strong>${title} API</strong>
<a href="/api/v2/openapi.json">openapi.json</a>
<div class="groups">${tags.map((name) => navigation(name, operations)).join('\n')}
<a class="group" href="#schemas">Schemas</a></div></nav>
<main><h1>${title}</h1>${paragraphs(document.info.description)}${credentials(document)}
${tags.map((name) => section(name, operations, document)).join('\n')}
<h2 id="schemas">Schemas</h2>
${schemas.map(([name, schema]) => schemaHtml(name, schema as Json)).join('\n')}
</main></body></html>`;
}

function operationsOf(document: OpenApiDocument): Operation[] {
  return Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    Object.entries(item as Json).map(([method, value]) => ({
      method: method.toUpperCase(),
      path,
      id: String((value as Json).operationId),
      value: value as Json,
    })),
  );
}

const tagOf = ({ value }: Operation): string => (value.tags as string[] | undefined)?.[0] ?? 'Other';
const anchorOf = (tag: string): string => `tag-${tag.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`;

function navigation(name: string, operations: readonly Operation[]): string {
  const links = operations
    .filter((operation) => tagOf(operation) === name)
    .map(({ id, value }) => `<li><a href="#${escaped(id)}">${escaped(String(value.summary))}</a></li>`);
  return `<a class="group" href="#${anchorOf(name)}">${escaped(name)}</a><ul>${links.join('')}</ul>`;
}

function credentials(document: OpenApiDocument): string {
  const rows = Object.entries((document.components?.securitySchemes ?? {}) as Json).map(([name, value]) => {
    const { type, name: header, bearerFormat, description } = value as Json;
    const how = type === 'apiKey' ? String(header) : `Authorization: Bearer ${bearerFormat ?? '...'}`;
    return `<tr><td>${escaped(name)}</td><td><code>${escaped(how)}</code></td><td>${inline(String(description))}</td></tr>`;
  });
  return `<h2 id="credentials">Credentials</h2>${table(['Name', 'Sent as', 'Meaning'], rows)}`;
}

function section(name: string, operations: readonly Operation[], document: OpenApiDocument): string {
  const about = document.tags?.find((tag) => tag.name === name)?.description;
  const items = operations.filter((operation) => tagOf(operation) === name).map(operationHtml);
  return `<h2 id="${anchorOf(name)}">${escaped(name)}</h2>${paragraphs(about)}${items.join('\n')}`;
}

/** The anchor is inside, because a browser opens the `details` element that contains the link target. */
function operationHtml({ method, path, id, value }: Operation): string {
  const body = (value.requestBody as Json | undefined)?.content;
  return `<details><summary><b class="method ${method.toLowerCase()}">${method}</b> <code>${escaped(path)}</code>
<span class="about">${escaped(String(value.summary))}</span></summary><div id="${escaped(id)}">
${paragraphs(value.description)}${parameters(value.parameters as Json[] | undefined)}
${body === undefined ? '' : `<h3>Body</h3>${contentHtml(body as Json)}`}<h3>Responses</h3>
${responses(value.responses as Json)}</div></details>`;
}

function parameters(list: readonly Json[] | undefined): string {
  // Parameters common to all requests are described once, above.
  const own = (list ?? []).filter((parameter) => !('$ref' in parameter));
  if (own.length === 0) return '';
  const rows = own.map(({ name, in: place, required, description, schema, example }) => {
    const need = required === true ? ', required' : '';
    const shown = example === undefined ? '' : ` Example: <code>${escaped(String(example))}</code>`;
    return `<tr><td><code>${escaped(String(name))}</code></td><td>${escaped(String(place))}${need}</td>
<td><p>${inline(String(description ?? ''))}${shown}</p><code>${escaped(typeText(schema as Json))}</code></td></tr>`;
  });
  return `<h3>Parameters</h3>${table(['Name', 'In', 'Meaning'], rows)}`;
}

/** A parameter's schema in a few words: `integer 1..100, default 25`. */
function typeText(schema: Json): string {
  const { type, format, enum: values, minimum, maximum, default: initial } = schema;
  const range = minimum === undefined && maximum === undefined ? '' : ` ${minimum ?? ''}..${maximum ?? ''}`;
  const kind = Array.isArray(values) ? values.join(' | ') : `${type ?? 'any'}${format ? ` (${format})` : ''}`;
  return `${kind}${range}${initial === undefined || initial === '' ? '' : `, default ${initial}`}`;
}

function responses(all: Json): string {
  const rows = Object.entries(all).map(([status, value]) => {
    const { description, content } = value as Json;
    const texts = String(description)
      .split(' · ')
      .map((text) => `<p>${inline(text)}</p>`);
    const shown =
      content !== undefined && saysMore(status, content as Json) ? contentHtml(content as Json) : '';
    return `<tr><td>${escaped(status)}</td><td>${texts.join('')}${shown}</td></tr>`;
  });
  return table(['Status', 'Meaning'], rows);
}

/** The common error body is shown once, among the schemas. */
function saysMore(status: string, content: Json): boolean {
  const schema = (content['application/json'] as Json | undefined)?.schema as Json | undefined;
  return Number(status) < 400 || !/\/(Coded)?Error$/.test(String(schema?.$ref));
}

function contentHtml(content: Json): string {
  return Object.entries(content)
    .map(([media, value]) => {
      const { schema, example, examples } = value as Json;
      const shown = example ?? Object.values((examples ?? {}) as Json).map((one) => (one as Json).value)[0];
      return `<p><code>${escaped(media)}</code></p>${exampleHtml(shown)}${schemaDetails(schema)}`;
    })
    .join('');
}

const exampleHtml = (example: unknown): string =>
  example === undefined
    ? ''
    : `<pre tabindex="0">${escaped(typeof example === 'string' ? example : JSON.stringify(example, null, 2))}</pre>`;

function schemaDetails(schema: unknown): string {
  const name = /\/schemas\/(\w+)$/.exec(String((schema as Json | undefined)?.$ref))?.[1];
  if (name !== undefined) return `<p>Schema: <a href="#schema-${name}">${name}</a></p>`;
  return `<details class="schema"><summary>Schema</summary>${json(schema)}</details>`;
}

function schemaHtml(name: string, schema: Json): string {
  const { examples, ...rest } = schema;
  const [example] = (examples ?? []) as unknown[];
  return `<details><summary>${escaped(name)}</summary><div id="schema-${escaped(name)}">
${paragraphs(rest.description)}${exampleHtml(example)}${json(rest)}</div></details>`;
}

/** A schema as text, with its references as links. */
function json(value: unknown): string {
  const text = escaped(JSON.stringify(value, null, 2) ?? '');
  return `<pre tabindex="0">${text.replaceAll(/#\/components\/schemas\/(\w+)/g, '<a href="#schema-$1">$1</a>')}</pre>`;
}

function table(heads: readonly string[], rows: readonly string[]): string {
  const head = heads.map((text) => `<th scope="col">${escaped(text)}</th>`).join('');
  return `<div class="scroll"><table><thead><tr>${head}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
}

function paragraphs(text: unknown): string {
  if (typeof text !== 'string' || text === '') return '';
  return text
    .split('\n\n')
    .map((part) => block(part.split('\n')))
    .join('');
}

/** A paragraph, or a list or table as descriptions write them in Markdown. */
function block(lines: readonly string[]): string {
  if (lines.every((line) => line.startsWith('- '))) {
    return `<ul>${lines.map((line) => `<li>${inline(line.slice(2))}</li>`).join('')}</ul>`;
  }
  if (!lines.every((line) => line.startsWith('|'))) return `<p>${inline(lines.join('\n'))}</p>`;
  const [heads = [], , ...rows] = lines.map((line) => line.slice(1, -1).split('|'));
  const cells = (row: readonly string[]) => row.map((cell) => `<td>${inline(cell.trim())}</td>`).join('');
  return table(
    heads.map((head) => head.trim()),
    rows.map((row) => `<tr>${cells(row)}</tr>`),
  );
}

const inline = (text: string): string => escaped(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
