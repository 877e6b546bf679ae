/** docs/reference/manifest.md: every field of a manifest, from the schema in the document that the platform serves. */
import { manifestSchema } from '../../../api/manifests/schema.ts';
import { code, generated, table } from './table.ts';

interface Shape {
  readonly type?: string;
  readonly description?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  readonly enum?: readonly string[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly pattern?: string;
  readonly [limit: string]: unknown;
}

export const manifestShape = manifestSchema.meta() as Shape & { readonly example: object };

export function manifestPage(): string {
  const { feature, runnerTypes, nodeTemplates } = manifestShape.properties!;
  const sections = [
    ['The document', manifestShape],
    ['feature', feature!],
    ['runnerTypes[]', runnerTypes!.items!],
    ['nodeTemplates[]', nodeTemplates!.items!],
    ['concurrency', nodeTemplates!.items!.properties!.concurrency!],
  ] as const;
  return `${generated}
# The manifest

A manifest registers your runners and their node templates. \`npx sdp manifests validate <file>\` checks it and
\`npx sdp manifests publish <file>\` publishes it, all of it or nothing; both list every fault with its JSON path. Unknown
fields are ignored, with a warning. [\`npx sdp runner init\`](../operations/command-line.md#runners) makes one to start from.

\`\`\`json
${JSON.stringify(manifestShape.example, null, 2)}
\`\`\`
${sections.map(([title, shape]) => section(title, shape)).join('')}
At most five tasks at once, and at most two of one project: \`"concurrency": { "max": 5, "perProject": 2 }\`.
`;
}

function section(title: string, { properties = {}, required = [] }: Shape): string {
  const rows = Object.entries(properties).map(([name, shape]) => [
    code(name),
    typeOf(shape),
    required.includes(name) ? 'required' : defaultOf(shape),
    limitOf(shape),
    shape.description ?? '',
  ]);
  return `\n## ${title}\n\n${table(['Field', 'Type', 'Default', 'Limit', 'Meaning'], rows)}\n`;
}

function typeOf(shape: Shape): string {
  if (shape.const !== undefined) return code(JSON.stringify(shape.const));
  if (shape.enum !== undefined) return shape.enum.map((value) => code(JSON.stringify(value))).join(', ');
  const names: Readonly<Record<string, string>> = { integer: 'whole number', array: 'list of objects' };
  const { type = '' } = shape;
  return names[type] ?? type;
}

const defaultOf = ({ default: initial }: Shape) =>
  initial === undefined ? 'none' : code(JSON.stringify(initial));

function limitOf({ type, pattern, ...shape }: Shape): string {
  const count = (unit: string, least: unknown, most: unknown) =>
    most === undefined ? '' : `${least === undefined ? 'at most ' : `${least} to `}${figure(most)}${unit}`;
  const form = pattern === undefined ? '' : code(pattern);
  if (type === 'string')
    return [count(' characters', shape.minLength, shape.maxLength), form].filter(Boolean).join(', ');
  if (type === 'array') return count(' items', shape.minItems, shape.maxItems);
  return count('', shape.minimum, shape.maximum);
}

const figure = (value: unknown) => (typeof value === 'number' ? value.toLocaleString('en') : String(value));
