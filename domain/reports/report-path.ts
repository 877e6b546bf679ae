/** Expressions that are a plain path (`dimension.sessionName`), as most columns are: read without the CEL engine. */
import { type ReportRow, reportSources } from './report.ts';

interface PathNode {
  readonly op: string;
  readonly args: unknown;
}

const isPathNode = (value: unknown): value is PathNode =>
  typeof value === 'object' && value !== null && 'op' in value && 'args' in value;

/** The names of `a.b.c`; undefined for any other expression. */
function namesOf(root: unknown): readonly string[] | undefined {
  const names: string[] = [];
  let at = root;
  while (isPathNode(at) && at.op === '.' && Array.isArray(at.args)) {
    const [of, name] = at.args as unknown[];
    if (typeof name !== 'string') return undefined;
    names.unshift(name);
    at = of;
  }
  return isPathNode(at) && at.op === 'id' && typeof at.args === 'string' ? [at.args, ...names] : undefined;
}

const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);

const sources: ReadonlySet<string> = new Set(reportSources);

/**
 * Gives what a path that begins at one of the row's parts finds, as the engine would: undefined for a missing value.
 * Undefined for any other expression; names that stand for themselves may be those of types.
 */
export function plainPath(root: unknown): ((row: ReportRow) => unknown) | undefined {
  const names = namesOf(root);
  if (names?.[0] === undefined || !sources.has(names[0])) return undefined;
  const [source, field, deeper] = names as [keyof ReportRow, ...string[]];
  if (field !== undefined && deeper === undefined)
    return (row) => (Object.hasOwn(row[source], field) ? row[source][field] : undefined);
  return (row) => {
    let value: unknown = row;
    for (const name of names) {
      if (!isPlain(value) || !Object.hasOwn(value, name)) return undefined;
      value = value[name];
    }
    return value;
  };
}
