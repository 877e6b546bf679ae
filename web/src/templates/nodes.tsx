import { useMemo, useState } from 'preact/hooks';
import { titleOf } from '../names.ts';
import { Empty } from '../ui/notice.tsx';
import type { SessionTemplateNode } from './api.ts';
import { TemplateGraph } from './template-graph.tsx';

/** The graph of a template, and the node that is chosen in it. */
export function TemplateNodes(props: { nodes: readonly SessionTemplateNode[] }) {
  const [selectedId, setSelectedId] = useState<number | null>(null);
  const selected = useMemo(
    () => props.nodes.find(({ id }) => id === selectedId) ?? props.nodes[0] ?? null,
    [props.nodes, selectedId],
  );
  if (selected === null) return <Empty title="This template has no nodes" />;
  return (
    <>
      <TemplateGraph nodes={props.nodes} selectedId={selected.id} onSelect={setSelectedId} />
      <section class="panel" aria-label={`Node ${titleOf(selected.name)}`}>
        <h3 title={selected.name}>{titleOf(selected.name)}</h3>
        <dl class="facts">
          <dt>Node template</dt>
          <dd>{selected.nodeTemplateName ?? 'no longer registered'}</dd>
          <dt>Type</dt>
          <dd>{selected.nodeTemplateType ?? 'unknown'}</dd>
          <dt>Parents</dt>
          <dd>
            {selected.parentNames.length === 0
              ? 'none: it receives uploads'
              : selected.parentNames.map(titleOf).join(', ')}
          </dd>
          <dt>Configuration</dt>
          <dd>
            <pre class="mono">{pretty(selected.defaultConfiguration)}</pre>
          </dd>
        </dl>
      </section>
    </>
  );
}

/** JSON with indentation; other text stays unchanged. */
function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
