/** The names that expressions of reports know: any other is a fault, not an empty column. */
import { channelTable } from './channel-use.ts';
import { type ExpressionFault, type ExpressionNode, isNode, variablesWithin } from './expression-nodes.ts';
import type { ReportRow } from './report.ts';

/** Null: any name, as in metadata. */
export const reportFields: Readonly<Record<keyof ReportRow, ReadonlySet<string> | null>> = {
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
export const annotationFields = ['label', 'text', 'tags', 'from', 'to'] as const;

/** Names that stand for types. */
const types = new Set(
  'int uint double bool string bytes list map null_type type dyn timestamp duration google optional optional_type'.split(
    ' ',
  ),
);

const isSource = (name: string): name is keyof ReportRow => Object.hasOwn(reportFields, name);

/** @param source the source of bare names */
export function unknownName(root: unknown, source: keyof ReportRow): ExpressionFault | undefined {
  const pending: { value: unknown; own: ReadonlySet<string> }[] = [{ value: root, own: new Set() }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, own } = next;
    if (Array.isArray(value)) {
      const names = variablesWithin(value, own);
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

function faultOf(
  { op, args }: ExpressionNode,
  source: keyof ReportRow,
  own: ReadonlySet<string>,
): string | undefined {
  if (op === 'id' && typeof args === 'string') {
    const isKnown =
      own.has(args) ||
      args === annotationList ||
      args === channelTable ||
      isSource(args) ||
      types.has(args) ||
      (reportFields[source]?.has(args) ?? true);
    return isKnown ? undefined : `'${args}' is unknown`;
  }
  if (op !== '.' || !Array.isArray(args)) return undefined;
  const [of, name] = args as unknown[];
  if (!isNode(of) || of.op !== 'id' || typeof of.args !== 'string' || own.has(of.args)) return undefined;
  if (!isSource(of.args) || typeof name !== 'string' || (reportFields[of.args]?.has(name) ?? true))
    return undefined;
  return `'${of.args}' has no '${name}'`;
}
