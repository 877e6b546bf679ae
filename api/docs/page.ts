/** The API reference as one HTML page: no scripts, nothing loaded from anywhere. */
import type { OpenApiDocument } from '../../http/openapi.ts';

type Json = { readonly [key: string]: unknown };
type Operation = { readonly method: string; readonly path: string; readonly value: Json };

const style = `
:root { color-scheme: light dark; --line: light-dark(#d8dee6, #33404d); --soft: light-dark(#f4f6f9, #1b232b); }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0; display: grid; grid-template-columns: 19rem 1fr; }
nav { position: sticky; top: 0; height: 100vh; overflow: auto; padding: 1rem; border-right: 1px solid var(--line); box-sizing: border-box; }
nav a { display: block; text-decoration: none; padding: .1rem 0; } nav h2 { font-size: .9rem; margin: 1rem 0 .2rem; }
main { padding: 1rem 2rem; max-width: 62rem; min-width: 0; }
details { border: 1px solid var(--line); border-radius: .4rem; margin: .5rem 0; }
summary { cursor: pointer; padding: .5rem .75rem; background: var(--soft); border-radius: .4rem; }
details > div { padding: .25rem .75rem .75rem; }
b.method { display: inline-block; width: 4.5rem; } code, pre { font-family: ui-monospace, monospace; font-size: .87rem; }
pre { background: var(--soft); padding: .6rem; overflow: auto; max-height: 26rem; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; vertical-align: top; padding: .2rem .6rem .2rem 0; border-bottom: 1px solid var(--line); }
@media (max-width: 50rem) { body { display: block; } nav { position: static; height: auto; } }
`;

/** Everything that came from schemas passes through `escaped`. */
export function renderReference(document: OpenApiDocument): string {
  const operations = operationsOf(document);
  const named = (document.tags ?? []).map((tag) => tag.name);
  const tagNames = [...new Set([...named, ...operations.map(tagOf)])].filter((name) =>
    operations.some((operation) => tagOf(operation) === name),
  );
  const schemas = Object.entries((document.components?.schemas ?? {}) as Json);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escaped(document.info.title)} API</title><style>${style}</style></head><body>
<nav><strong>${escaped(document.info.title)} API</strong> <a href="/api/v2/openapi.json">openapi.json</a>
${tagNames.map((name) => navigation(name, operations)).join('\n')}
<h2>Schemas</h2>${schemas.map(([name]) => `<a href="#schema-${escaped(name)}">${escaped(name)}</a>`).join('')}</nav>
<main><h1>${escaped(document.info.title)}</h1>${paragraphs(document.info.description)}
${tagNames.map((name) => section(name, operations, document)).join('\n')}
<h2>Schemas</h2>
${schemas.map(([name, schema]) => `<details id="schema-${escaped(name)}"><summary>${escaped(name)}</summary><div>${json(schema)}</div></details>`).join('\n')}
</main></body></html>`;
}

function operationsOf(document: OpenApiDocument): Operation[] {
  return Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    Object.entries(item as Json).map(([method, value]) => ({
      method: method.toUpperCase(),
      path,
      value: value as Json,
    })),
  );
}

const tagOf = (operation: Operation): string =>
  (operation.value.tags as string[] | undefined)?.[0] ?? 'Other';

function navigation(name: string, operations: readonly Operation[]): string {
  const links = operations
    .filter((operation) => tagOf(operation) === name)
    .map(
      ({ value }) => `<a href="#${escaped(String(value.operationId))}">${escaped(String(value.summary))}</a>`,
    );
  return `<h2>${escaped(name)}</h2>${links.join('')}`;
}

function section(name: string, operations: readonly Operation[], document: OpenApiDocument): string {
  const about = document.tags?.find((tag) => tag.name === name)?.description;
  const items = operations.filter((operation) => tagOf(operation) === name).map(operationHtml);
  return `<h2>${escaped(name)}</h2>${paragraphs(about)}${items.join('\n')}`;
}

function operationHtml({ method, path, value }: Operation): string {
  const body = (value.requestBody as Json | undefined)?.content;
  return `<details id="${escaped(String(value.operationId))}"><summary><b class="method">${method}</b>
<code>${escaped(path)}</code> ${escaped(String(value.summary ?? ''))}</summary><div>
${paragraphs(value.description)}${parameters(value.parameters as Json[] | undefined)}
${body === undefined ? '' : `<h4>Body</h4>${contentHtml(body as Json)}`}<h4>Responses</h4>
${responses(value.responses as Json)}</div></details>`;
}

function parameters(list: readonly Json[] | undefined): string {
  if (list === undefined || list.length === 0) return '';
  const rows = list.map((parameter) => {
    const need = parameter.required === true ? 'required' : '';
    const schema = escaped(JSON.stringify(parameter.schema));
    return `<tr><td><code>${escaped(String(parameter.name))}</code></td><td>${escaped(String(parameter.in))} ${need}</td><td><code>${schema}</code></td></tr>`;
  });
  return `<h4>Parameters</h4><table>${rows.join('')}</table>`;
}

function responses(all: Json): string {
  const rows = Object.entries(all).map(([status, value]) => {
    const { description, content } = value as Json;
    const shown = Number(status) < 400 && content !== undefined ? contentHtml(content as Json) : '';
    return `<tr><td>${escaped(status)}</td><td>${escaped(String(description))}${shown}</td></tr>`;
  });
  return `<table>${rows.join('')}</table>`;
}

function contentHtml(content: Json): string {
  return Object.entries(content)
    .map(([media, value]) => `<p><code>${escaped(media)}</code></p>${json((value as Json).schema)}`)
    .join('');
}

/** A schema as text, with its references as links. */
function json(value: unknown): string {
  const text = escaped(JSON.stringify(value, null, 2) ?? '');
  return `<pre>${text.replaceAll(/#\/components\/schemas\/(\w+)/g, '<a href="#schema-$1">$1</a>')}</pre>`;
}

function paragraphs(text: unknown): string {
  if (typeof text !== 'string' || text === '') return '';
  return text
    .split('\n\n')
    .map((part) => `<p>${escaped(part).replaceAll(/`([^`]+)`/g, '<code>$1</code>')}</p>`)
    .join('');
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
