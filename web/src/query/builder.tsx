import { useState } from 'preact/hooks';
import { AddPart } from '../ui/buttons.tsx';
import { Select } from '../ui/form.tsx';
import { Icon } from '../ui/icon.tsx';
import { RemovePart } from './buttons.tsx';
import { ConditionRow } from './condition.tsx';
import { queryLimits } from './fields.ts';
import type { Group, Ordering, QueryNode, QueryWorld } from './model.ts';
import { changeNode, countConditions, newCondition, newGroup } from './model.ts';
import { Orderings } from './orderings.tsx';

export interface BuilderProps {
  root: Group;
  orderBy: Ordering[];
  world: QueryWorld;
  /** The faults of nodes, by their ids. */
  faults: ReadonlyMap<number, string>;
  busy: boolean;
  onRoot: (root: Group) => void;
  onOrderBy: (orderBy: Ordering[]) => void;
  onSubmit: () => void;
  onClear: () => void;
}

/** Writes a whole session query: conditions in groups of groups, and the order of the results. */
export function QueryBuilder(props: BuilderProps) {
  const count = countConditions(props.root);
  return (
    <form
      class="query panel"
      aria-label="Query builder"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        props.onSubmit();
      }}
    >
      <GroupBox {...props} group={props.root} level={1} isFull={count >= queryLimits.conditions} />
      <Orderings orderBy={props.orderBy} onChange={props.onOrderBy} />
      <div class="query-end">
        <button type="button" class="button button-quiet" onClick={props.onClear}>
          Clear
        </button>
        <button type="submit" class="button button-primary" aria-disabled={props.busy}>
          <Icon name="search" />
          Search
        </button>
      </div>
    </form>
  );
}

interface GroupProps extends BuilderProps {
  group: Group;
  level: number;
  isFull: boolean;
}

function GroupBox(props: GroupProps) {
  const { group, level } = props;
  const [fresh, setFresh] = useState<number | null>(null);
  const change = (id: number, part: (node: QueryNode) => QueryNode | null) =>
    props.onRoot(changeNode(props.root, id, part));
  const add = (node: QueryNode) => {
    setFresh(node.kind === 'condition' ? node.id : (node.nodes[0]?.id ?? null));
    change(group.id, () => ({ ...group, nodes: [...group.nodes, node] }));
  };
  const fault = props.faults.get(group.id);
  return (
    <fieldset class={level === 1 ? 'query-group' : 'query-group query-group-inner'}>
      <legend class="visually-hidden">
        {level === 1 ? 'Conditions' : `Group of conditions, level ${level}`}
      </legend>
      <GroupHead
        lead={level === 1 ? 'Sessions' : joinWord(props)}
        kind={group.kind}
        onKind={(kind) => change(group.id, () => ({ ...group, kind }))}
        onRemove={level === 1 ? null : () => change(group.id, () => null)}
      />
      {fault !== undefined && <p class="query-fault">{fault}</p>}
      {group.nodes.length === 0 && <p class="faint query-none">No conditions: every session matches.</p>}
      <ul class="query-nodes">
        {group.nodes.map((node, index) => (
          <li key={node.id}>
            {node.kind === 'condition' ? (
              <ConditionRow
                condition={node}
                number={index + 1}
                world={props.world}
                fault={props.faults.get(node.id) ?? null}
                focused={fresh === node.id}
                onChange={(next) => change(node.id, () => next)}
                onRemove={() => change(node.id, () => null)}
              />
            ) : (
              <GroupBox {...props} group={node} level={level + 1} />
            )}
          </li>
        ))}
      </ul>
      <GroupEnd group={group} level={level} isFull={props.isFull} add={add} />
    </fieldset>
  );
}

const kinds = [
  { value: 'and', label: 'all of these' },
  { value: 'or', label: 'any of these' },
] as const;

function GroupHead(props: {
  lead: string;
  kind: Group['kind'];
  onKind: (kind: Group['kind']) => void;
  /** Null for the outermost group. */
  onRemove: (() => void) | null;
}) {
  return (
    <div class="query-group-head">
      <span>{props.lead} that match</span>
      <Select label="Operator of this group" value={props.kind} options={kinds} onValue={props.onKind} />
      {props.onRemove !== null && (
        <RemovePart label="Remove this group" title="Remove this group" onClick={props.onRemove} />
      )}
    </div>
  );
}

function GroupEnd(props: { group: Group; level: number; isFull: boolean; add: (node: QueryNode) => void }) {
  const { group, level, isFull, add } = props;
  return (
    <div class="actions">
      <AddPart label="Add condition" disabled={isFull} onClick={() => add(newCondition())} />
      {level < queryLimits.levels - 1 && (
        <AddPart
          label="Add group"
          disabled={isFull}
          onClick={() => add(newGroup(group.kind === 'and' ? 'or' : 'and'))}
        />
      )}
    </div>
  );
}

/** The word that joins an inner group with the part before it. */
function joinWord({ root, group }: GroupProps): string {
  const parent = parentOf(root, group.id);
  if (parent === null || parent.nodes[0]?.id === group.id) return 'Sessions';
  return parent.kind;
}

function parentOf(within: Group, id: number): Group | null {
  for (const node of within.nodes) {
    if (node.id === id) return within;
    const found = node.kind === 'condition' ? null : parentOf(node, id);
    if (found !== null) return found;
  }
  return null;
}
