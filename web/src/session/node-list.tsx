import { useEffect, useRef } from 'preact/hooks';
import type { NodeInstanceProgress } from '../api.ts';
import { formatExactly } from '../format.ts';
import { templateTitle, titleOf, withoutCategory } from '../names.ts';
import { Ago } from '../ui/ago.tsx';
import { Empty } from '../ui/notice.tsx';
import { StateBadge } from '../ui/state-badge.tsx';
import { Table } from '../ui/table.tsx';
import { scrollToChosen } from './scroll-to-chosen.ts';

/** The nodes in the order of the template, for sessions with more of them than a graph shows well. */
export function NodeList(props: {
  nodes: readonly NodeInstanceProgress[];
  selectedId: number | null;
  onSelect: (id: number) => void;
}) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => scrollToChosen(list.current?.querySelector('.table-frame'), '.row-chosen'), []);
  if (props.nodes.length === 0) return <Empty title="No node has this name" />;
  return (
    <div ref={list} class="node-list dense-list">
      <Table caption="Nodes" columns={['State', 'Node', 'Details', 'Last run']}>
        {props.nodes.map((node) => (
          <tr key={node.id} class={node.id === props.selectedId ? 'row-chosen' : ''}>
            <td>
              <StateBadge state={node.state} />
            </td>
            <td>
              <button
                type="button"
                class="row-link link-button"
                title={
                  node.lastProcessed === null
                    ? node.name
                    : `${node.name}\nLast run ${formatExactly(node.lastProcessed)}`
                }
                data-node={node.id}
                data-state={node.state}
                aria-pressed={node.id === props.selectedId}
                onClick={() => props.onSelect(node.id)}
              >
                {titleOf(node.name)}
              </button>{' '}
              <span class="faint">{templateTitle(node.name, node.nodeTemplateName)}</span>
            </td>
            <td data-label="Details" class="wrap-anywhere">
              {node.statusDetails && <span class="clamp">{withoutCategory(node.statusDetails)}</span>}
            </td>
            <td data-label="Last run" class="nowrap">
              {node.lastProcessed !== null && <Ago at={node.lastProcessed} />}
            </td>
          </tr>
        ))}
      </Table>
    </div>
  );
}
