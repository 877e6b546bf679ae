import { useState } from 'preact/hooks';
import { Icon } from '../ui/icon.tsx';
import { ConditionRow } from './condition.tsx';
import { queryLimits } from './fields.ts';
import type { Group, Ordering, QueryNode, QueryWorld } from './model.ts';
import { changeNode, countConditions, newCondition, newGroup } from './model.ts';
import { Orderings } from './orderings.tsx';

export interface BuilderProps {
  root: Group;
  orderBy: Ordering[];
  world: QueryWorld;
  /** By the id of a node. */
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
        <button type="submit" class="button button-primary" disabled={props.busy}>
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
    change(group.id, (self) =>
      self.kind === 'condition' ? self : { ...self, nodes: [...self.nodes, node] },
    );
  };
  const fault = props.faults.get(group.id);
  return (
    <fieldset class={level === 1 ? 'query-group' : 'query-group query-group-inner'}>
      <legend class="visually-hidden">
        {level === 1 ? 'Conditions' : `Group of conditions, level ${level}`}
      </legend>
      <div class="query-group-head">
        <span>{level === 1 ? 'Sessions' : joinWord(props)} that match</span>
        <select
          class="select"
          aria-label="Operator of this group"
          value={group.kind}
          onChange={(event) => {
            const kind = event.currentTarget.value === 'or' ? 'or' : 'and';
            change(group.id, (self) => (self.kind === 'condition' ? self : { ...self, kind }));
          }}
        >
          <option value="and">all of these</option>
          <option value="or">any of these</option>
        </select>
        {level > 1 && (
          <button
            type="button"
            class="button button-icon query-remove"
            aria-label="Remove this group"
            title="Remove this group"
            onClick={() => change(group.id, () => null)}
          >
            <Icon name="cross" />
          </button>
        )}
      </div>
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
      <div class="actions">
        <button
          type="button"
          class="button button-small"
          disabled={props.isFull}
          onClick={() => add(newCondition())}
        >
          <Icon name="plus" />
          Add condition
        </button>
        {level < queryLimits.levels - 1 && (
          <button
            type="button"
            class="button button-small"
            disabled={props.isFull}
            onClick={() => add(newGroup(group.kind === 'and' ? 'or' : 'and'))}
          >
            <Icon name="plus" />
            Add group
          </button>
        )}
      </div>
    </fieldset>
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
