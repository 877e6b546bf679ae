/** The names that expressions of reports know: any other is a fault, not an empty column. */
import type { ReportRow } from './report.ts';

/** Null: any name, as in metadata. */
const fields: Readonly<Record<keyof ReportRow, ReadonlySet<string> | null>> = {
  dimension: new Set(
    'id name title url dashboardName dashboardVersion createdAt sessionId sessionName simulationName sessionCreatedAt sessionTemplateName projectId projectTitle'.split(
      ' ',
    ),
  ),
  metadata: null,
  scenarioInstance: new Set('id simulationId scenarioName from to createdAt'.split(' ')),
  user: new Set('id name email'.split(' ')),
  dashboard: new Set('id name version url'.split(' ')),
};
/** The annotations of the session, in every row. */
export const annotationList = 'annotations';

/** Names that stand for types. */
const types = new Set(
  'int uint double bool string bytes list map null_type type dyn timestamp duration google optional optional_type'.split(
    ' ',
  ),
);

interface Node {
  readonly op: string;
  readonly args: unknown;
  readonly start: number;
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'op' in value && 'args' in value;
const isSource = (name: string): name is keyof ReportRow => Object.hasOwn(fields, name);

export interface UnknownName {
  readonly reason: string;
  readonly position: number;
}

/** @param source the source of bare names */
export function unknownName(root: unknown, source: keyof ReportRow): UnknownName | undefined {
  const pending: { value: unknown; own: ReadonlySet<string> }[] = [{ value: root, own: new Set() }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, own } = next;
    if (Array.isArray(value)) {
      // A loop declares its variable as the first of its parameters.
      const isLoop = typeof value[0] === 'string' && loops.has(value[0]);
      const names = isLoop ? new Set([...own, ...variablesOf(value.at(-1))]) : own;
      for (const item of value) pending.push({ value: item, own: names });
      continue;
    }
    if (!isNode(value)) continue;
    const fault = faultOf(value, source, own);
    if (fault !== undefined) return { reason: fault, position: value.start };
    pending.push({ value: value.args, own });
  }
  return undefined;
}

const loops = new Set(['map', 'filter', 'all', 'exists', 'exists_one']);

function variablesOf(parameters: unknown): string[] {
  const [declared] = Array.isArray(parameters) ? (parameters as unknown[]) : [];
  return isNode(declared) && declared.op === 'id' ? [String(declared.args)] : [];
}

function faultOf({ op, args }: Node, source: keyof ReportRow, own: ReadonlySet<string>): string | undefined {
  if (op === 'id' && typeof args === 'string') {
    const isKnown =
      own.has(args) ||
      args === annotationList ||
      isSource(args) ||
      types.has(args) ||
      (fields[source]?.has(args) ?? true);
    return isKnown ? undefined : `'${args}' is unknown`;
  }
  if (op !== '.' || !Array.isArray(args)) return undefined;
  const [of, name] = args as unknown[];
  if (!isNode(of) || of.op !== 'id' || typeof of.args !== 'string' || own.has(of.args)) return undefined;
  if (!isSource(of.args) || typeof name !== 'string' || (fields[of.args]?.has(name) ?? true))
    return undefined;
  return `'${of.args}' has no '${name}'`;
}
