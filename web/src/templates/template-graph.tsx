import type { NodeInstanceProgress } from '../api.ts';
import { SessionGraph } from '../graph/graph.tsx';
import { templateTitle } from '../names.ts';
import type { SessionTemplateNode } from './api.ts';

/** A template's graph, drawn like a session's, with kinds of nodes in place of their states. */
export function TemplateGraph(props: {
  nodes: readonly SessionTemplateNode[];
  selectedId: number;
  onSelect: (id: number) => void;
}) {
  const ids = new Map(props.nodes.map(({ name, id }) => [name, id]));
  const nodes: NodeInstanceProgress[] = props.nodes.map((node) => ({
    id: node.id,
    name: node.name,
    nodeTemplateId: 0,
    nodeTemplateName: node.nodeTemplateName ?? '',
    state: 'NeverBegan',
    stateCode: 0,
    statusDetails:
      node.nodeTemplateName === null
        ? 'no longer registered'
        : templateTitle(node.name, node.nodeTemplateName),
    lastProcessed: null,
    currentOutputId: null,
    rejectedInputs: 0,
    parentIds: node.parentNames.map((name) => ids.get(name)).filter((id) => id !== undefined),
  }));
  return (
    <SessionGraph
      label="Graph of the template"
      hasStates={false}
      nodes={nodes}
      selectedId={props.selectedId}
      onSelect={props.onSelect}
      onFiles={null}
    />
  );
}
