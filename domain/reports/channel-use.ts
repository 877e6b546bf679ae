/**
 * Which channels an expression reads. Each is named by a literal, `channels.speed.max` or `channels["engine speed"].max`,
 * so that a row holds these alone, and not the hundreds that a recording may have.
 */
import { type ExpressionFault, type ExpressionNode, isNode, variablesWithin } from './expression-nodes.ts';

/** The statistics of channels by name, in every row. */
export const channelTable = 'channels';
export const channelFields = ['min', 'max', 'mean', 'standardDeviation', 'count', 'missing', 'unit'] as const;
const fields: ReadonlySet<string> = new Set(channelFields);
const maxNames = 50;

export interface ChannelUse {
  readonly names: ReadonlySet<string>;
  readonly fault?: ExpressionFault;
}

interface Pending {
  readonly value: unknown;
  /** Variables of the loops around it. */
  readonly own: ReadonlySet<string>;
}

const accesses = new Set(['.', '.?', '[]', '[?]']);

export function channelUse(root: unknown): ChannelUse {
  const names = new Set<string>();
  const pending: Pending[] = [{ value: root, own: new Set() }];
  const refused = (reason: string, { start }: ExpressionNode) => ({
    names,
    fault: { reason, position: start },
  });
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, own } = next;
    if (Array.isArray(value)) {
      const inside = variablesWithin(value, own);
      for (const item of value) pending.push({ value: item, own: inside });
      continue;
    }
    if (!isNode(value)) continue;
    const channel = channelOf(value, own);
    if (channel !== undefined) {
      names.add(channel);
      continue;
    }
    if (isTable(value, own)) return refused('a channel is named as channels.name or channels["name"]', value);
    const [of, field] = operandsOf(value);
    if (isNode(of) && channelOf(of, own) !== undefined && typeof nameOf(field) === 'string') {
      const name = nameOf(field) as string;
      if (!fields.has(name)) return refused(`a channel has no '${name}'`, value);
    }
    pending.push({ value: value.args, own });
  }
  return names.size > maxNames
    ? { names, fault: { reason: `more than ${maxNames} channels`, position: 0 } }
    : { names };
}

const operandsOf = ({ op, args }: ExpressionNode): readonly unknown[] =>
  accesses.has(op) && Array.isArray(args) ? (args as unknown[]) : [];
const isTable = ({ op, args }: ExpressionNode, own: ReadonlySet<string>) =>
  op === 'id' && args === channelTable && !own.has(channelTable);

/** The name of the channel that a node of the syntax tree refers to. */
function channelOf(node: ExpressionNode, own: ReadonlySet<string>): string | undefined {
  const [of, name] = operandsOf(node);
  return isNode(of) && isTable(of, own) ? nameOf(name) : undefined;
}

/** The name in `.name` or `["name"]`. */
function nameOf(operand: unknown): string | undefined {
  const literal = isNode(operand) && operand.op === 'value' ? operand.args : operand;
  return typeof literal === 'string' ? literal : undefined;
}
