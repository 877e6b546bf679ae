/** What expressions read of a row, so that nothing else is fetched for it. */
import { type ExpressionNode, isNode } from './expression-nodes.ts';
import { reportSources } from './report.ts';

export interface ExpressionReads {
  /** All names in the expression: of sources, of fields, of variables. */
  readonly names: ReadonlySet<string>;
  /** A source is used other than as `source.name`: any of its fields may be read. */
  readonly wholeSource: boolean;
  /** A name stands alone, and may be that of a field of the expression's own source. */
  readonly bareNames: boolean;
}

const sources: ReadonlySet<unknown> = new Set(reportSources);

export function expressionReads(root: unknown): ExpressionReads {
  const names = new Set<string>();
  let wholeSource = false;
  let bareNames = false;
  const pending: unknown[] = [root];
  while (pending.length > 0) {
    const value = pending.pop();
    if (Array.isArray(value)) pending.push(...(value as unknown[]));
    else if (isNode(value)) {
      const field = fieldOfSource(value);
      if (field !== undefined) {
        for (const name of field) names.add(name);
        continue;
      }
      if (value.op === 'id') {
        names.add(String(value.args));
        if (sources.has(value.args)) wholeSource = true;
        else bareNames = true;
      } else pending.push(value.args);
    } else if (typeof value === 'string') names.add(value);
  }
  return { names, wholeSource, bareNames };
}

/** The two names of `source.name`. */
function fieldOfSource({ op, args }: ExpressionNode): readonly string[] | undefined {
  if (op !== '.' || !Array.isArray(args)) return undefined;
  const [of, name] = args as unknown[];
  const isSource = isNode(of) && of.op === 'id' && sources.has(of.args);
  return isSource && typeof name === 'string' ? [String(of.args), name] : undefined;
}
