import { useRef, useState } from 'preact/hooks';
import type { NodeInstanceProgress } from '../api.ts';
import { plural } from '../format.ts';
import { SessionGraph } from '../graph/graph.tsx';
import { titleOf } from '../names.ts';
import { useAbilities } from '../role.ts';
import { navigate, useAddress, withParameters } from '../router.ts';
import { lazy } from '../ui/lazy.tsx';
import { Empty } from '../ui/notice.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { NodeList } from './node-list.tsx';
import { NodePanel } from './node-panel.tsx';
import type { TabProps } from './tabs/props.ts';

/** The most nodes that are drawn as a graph. More are easier to read as a list. */
const maxDrawnNodes = 24;

/** The nodes as a graph or a list, with the chosen one beside them, and their runs on one axis of time. */
export function Pipeline({ session, followed, uploads }: TabProps) {
  const nodes = followed.nodes ?? [];
  const { query } = useAddress();
  const { readRuns } = useAbilities();
  const selected = useSelected(nodes, Number(query.get('node')));
  if (nodes.length === 0) return <Empty title="This session has no nodes" />;
  const onSelect = (id: number) => go({ node: id });
  return (
    <div class="session-body">
      <div class="session-main">
        <Nodes
          nodes={nodes}
          view={query.get('view') ?? (nodes.length > maxDrawnNodes ? 'list' : 'graph')}
          selectedId={selected?.id ?? null}
          onSelect={onSelect}
          onFiles={(id, files) => uploads.uploadTo(id, files)}
        />
        {readRuns && <RunsLoader sessionId={session.id} nodes={nodes} round={followed.round} />}
      </div>
      {selected !== null && (
        <NodePanel
          key={selected.id}
          sessionId={session.id}
          node={selected}
          nodes={nodes}
          round={followed.round}
          frozen={followed.window?.frozen === true}
          upload={(files) => uploads.uploadTo(selected.id, files)}
          replace={(id, file, identifier) => uploads.uploadTo(id, [file], identifier)}
          dimensions={session.dimensions}
          onSelect={onSelect}
          isAsked={query.has('node')}
        />
      )}
    </div>
  );
}

/** All nodes, with a search. */
function Nodes(props: {
  nodes: readonly NodeInstanceProgress[];
  view: string;
  selectedId: number | null;
  onSelect: (id: number) => void;
  onFiles: (nodeInstanceId: number, files: File[]) => void;
}) {
  const { nodes, view, selectedId, onSelect } = props;
  const [search, setSearch] = useState('');
  const isSearched = search.trim() !== '';
  const found = nodes.filter((node) => matches(node, search));
  return (
    <>
      <div class="pipeline-tools">
        <SearchField label="Search nodes" value={search} onValue={setSearch} />
        <ViewChoice view={view} />
      </div>
      {view === 'list' ? (
        <NodeList nodes={found} selectedId={selectedId} onSelect={onSelect} />
      ) : (
        <SessionGraph
          nodes={nodes}
          found={isSearched ? new Set(found.map(({ id }) => id)) : null}
          selectedId={selectedId}
          onSelect={onSelect}
          onFiles={props.onFiles}
        />
      )}
      {isSearched && (
        <p class="faint" role="status">
          {found.length === 0
            ? 'No node has this name.'
            : `${found.length} of ${plural(nodes.length, 'node', 'nodes')}`}
        </p>
      )}
    </>
  );
}

function ViewChoice(props: { view: string }) {
  return (
    <fieldset class="run-states">
      <legend class="visually-hidden">Shown as</legend>
      {(['graph', 'list'] as const).map((name) => (
        <button
          key={name}
          type="button"
          class="button button-small"
          aria-pressed={props.view === name}
          onClick={() => go({ view: name })}
        >
          {name === 'graph' ? 'Graph' : 'List'}
        </button>
      ))}
    </fieldset>
  );
}

/** Shows another node or view. A chosen node is shown in the pipeline anyway. */
const go = ({ node, view }: { node?: number; view?: string }) =>
  navigate(
    withParameters({
      ...(view === undefined ? {} : { view }),
      ...(node === undefined ? {} : { node: String(node), tab: '' }),
    }),
    { replace: true },
  );

function matches(node: NodeInstanceProgress, search: string): boolean {
  const text = `${node.name} ${titleOf(node.name)} ${node.nodeTemplateName}`.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** The code of the waterfall is fetched with the first pipeline. */
const RunsLoader = lazy(() => import('../runs/session-runs.tsx').then((module) => module.SessionRuns), {
  rows: 2,
  label: 'Loading the runs',
});

/** The node of the address, or else the most likely choice; null without nodes. */
function useSelected(nodes: readonly NodeInstanceProgress[], askedId: number): NodeInstanceProgress | null {
  // A failed node that runs again stays chosen.
  const lastFailed = useRef<number | null>(null);
  const choice = firstChoice(nodes, lastFailed.current);
  if (choice?.state === 'Failed') lastFailed.current = choice.id;
  return nodes.find((node) => node.id === askedId) ?? choice;
}

/** The most likely choice: the failed node, or the one that had failed, else the input node. */
function firstChoice(
  nodes: readonly NodeInstanceProgress[],
  lastFailedId: number | null,
): NodeInstanceProgress | null {
  return (
    nodes.find((node) => node.state === 'Failed') ??
    nodes.find((node) => node.id === lastFailedId) ??
    nodes.find((node) => node.parentIds.length === 0) ??
    nodes[0] ??
    null
  );
}
