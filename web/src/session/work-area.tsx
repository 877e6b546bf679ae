import { useEffect, useRef, useState } from 'preact/hooks';
import type { NodeInstanceProgress, SessionDimension } from '../api.ts';
import { navigate, useAddress } from '../router.ts';
import { Empty, Notice } from '../ui/notice.tsx';
import type { Followed } from './follow.ts';
import { SessionGraph } from './graph.tsx';
import { NodePanel } from './node-panel.tsx';
import type { Uploads } from './uploads.ts';

/** The graph with the chosen node beside it, which is in the address; files may be dropped anywhere. */
export function WorkArea(props: {
  nodes: readonly NodeInstanceProgress[];
  followed: Followed;
  dimensions: readonly SessionDimension[];
  uploads: Uploads;
}) {
  const { nodes, followed, uploads } = props;
  const { path, query } = useAddress();
  const [said, setSaid] = useState('');
  const asked = Number(query.get('node'));
  const selected = nodes.find((node) => node.id === asked) ?? firstChoice(nodes);
  const frozen = followed.window?.frozen === true;
  const select = (id: number) => navigate(`${path}?node=${id}`, { replace: true });
  const upload = (nodeInstanceId: number, files: File[]) => {
    setSaid(frozen ? 'The session is frozen and takes no uploads.' : '');
    select(nodeInstanceId);
    if (!frozen) uploads.start(nodeInstanceId, files);
  };
  useDropsElsewhere((files) => {
    const inputs = nodes.filter(({ parentIds }) => parentIds.length === 0);
    if (inputs.length === 1) upload(inputs[0]!.id, files);
    else setSaid('The session has several input nodes. Drop files on the one that they are for.');
  });
  if (nodes.length === 0) return <Empty title="This session has no nodes" />;
  return (
    <>
      {said !== '' && <Notice tone="info">{said}</Notice>}
      <div class="session-body">
        <SessionGraph nodes={nodes} selectedId={selected?.id ?? null} onSelect={select} onFiles={upload} />
        {selected !== null && (
          <NodePanel
            node={selected}
            round={followed.round}
            frozen={frozen}
            uploads={uploads}
            dimensions={props.dimensions}
            onSelect={select}
          />
        )}
      </div>
    </>
  );
}

/** Handles files dropped outside of a node. The browser would leave the page to show them. */
function useDropsElsewhere(take: (files: File[]) => void): void {
  const latest = useRef(take);
  latest.current = take;
  useEffect(() => {
    const allow = (event: DragEvent) => event.preventDefault();
    const drop = (event: DragEvent) => {
      if (event.defaultPrevented) return;
      event.preventDefault();
      const files = [...(event.dataTransfer?.files ?? [])];
      if (files.length > 0) latest.current(files);
    };
    window.addEventListener('dragover', allow);
    window.addEventListener('drop', drop);
    return () => {
      window.removeEventListener('dragover', allow);
      window.removeEventListener('drop', drop);
    };
  }, []);
}

/** The most likely choice: the failed node, else the input node. */
function firstChoice(nodes: readonly NodeInstanceProgress[]): NodeInstanceProgress | null {
  return (
    nodes.find((node) => node.state === 'Failed') ??
    nodes.find((node) => node.parentIds.length === 0) ??
    nodes[0] ??
    null
  );
}
