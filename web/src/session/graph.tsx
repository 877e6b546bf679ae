import type { VNode } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { NodeInstanceProgress } from '../api.ts';
import { titleOf } from '../names.ts';
import { stateStyle } from '../node-state.ts';
import { Icon } from '../ui/icon.tsx';
import type { PlacedNode } from './graph-layout.ts';
import { edgePath, layoutGraph } from './graph-layout.ts';
import { isSmall, useZoom } from './graph-zoom.tsx';
import { dropHandlers } from './upload/drop-handlers.ts';

const sizes = { nodeWidth: 204, nodeHeight: 64, columnGap: 48, rowGap: 20 };

/**
 * A graph of nodes. Nodes are buttons, so that they can be reached by Tab and the arrow keys and are read with name,
 * state and parents; lines are only drawn. Files dropped on an input node go to `onFiles`.
 */
export function SessionGraph(props: {
  nodes: readonly NodeInstanceProgress[];
  selectedId: number | null;
  /** Null when nodes accept no files. */
  onFiles: ((nodeInstanceId: number, files: File[]) => void) | null;
  onSelect: (id: number) => void;
  label?: string;
  /** False: the nodes of a template, which have no state. */
  hasStates?: boolean;
  /** Nodes that a search has found; the others step back. */
  found?: ReadonlySet<number> | null;
}) {
  const { onFiles, found = null, hasStates = true } = props;
  const shape = props.nodes.map((node) => `${node.id}:${node.parentIds.join('.')}`).join(' ');
  const unfolded = useMemo(() => layoutGraph(props.nodes, sizes), [shape]);
  const byId = new Map(props.nodes.map((node) => [node.id, node]));
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLElement>(null);

  const { zoom, layout, tools } = useZoom(frame, unfolded, sizes);

  useEffect(() => {
    if (canvas.current === null) return;
    canvas.current.style.width = `${layout.width * zoom}px`;
    canvas.current.style.height = `${layout.height * zoom}px`;
  }, [layout, zoom]);

  const first =
    found === null ? props.selectedId : (layout.nodes.find(({ id }) => found.has(id))?.id ?? null);
  useEffect(() => {
    const place = layout.nodes.find((node) => node.id === first);
    if (frame.current !== null && place !== undefined) showInside(frame.current, place, zoom);
  }, [layout, first, zoom]);

  const move = (event: KeyboardEvent, from: number) => {
    const target = neighbour(layout.nodes, from, event.key);
    if (target === null) return;
    event.preventDefault();
    props.onSelect(target);
    frame.current?.querySelector<HTMLElement>(`[data-node="${target}"]`)?.focus();
  };

  // A change of one node renders only that node: the others are returned from the previous render.
  const live = useRef({ onSelect: props.onSelect, onFiles, move });
  live.current = { onSelect: props.onSelect, onFiles, move };
  const drawn = useRef(new Map<number, DrawnNode>());

  return (
    <div class="graph-frame">
      {tools}
      <div class="graph" ref={frame}>
        <section
          class={isSmall(zoom) ? 'graph-canvas graph-small' : 'graph-canvas'}
          ref={canvas}
          aria-label={props.label ?? 'Graph of the session'}
        >
          <div class="graph-scaled" style={{ transform: `scale(${zoom})`, '--zoom': String(zoom) }}>
            <svg class="graph-lines" width={layout.width} height={layout.height} aria-hidden="true">
              {layout.edges.map((edge) => (
                <path
                  key={`${edge.from}-${edge.to}`}
                  d={edgePath(edge.points)}
                  class={`graph-line line-${stateStyle(byId.get(edge.from)?.state ?? '').tone}`}
                />
              ))}
            </svg>
            {layout.nodes.map((place) => {
              const node = byId.get(place.id);
              if (node === undefined) return null;
              const selected = props.selectedId === place.id;
              const before = drawn.current.get(place.id);
              const dimmed = found !== null && !found.has(node.id);
              const isSame = before?.place === place && before.node === node && before.selected === selected;
              if (isSame && before.dimmed === dimmed) return before.button;
              const button = (
                <GraphNodeButton
                  key={place.id}
                  node={node}
                  hasStates={hasStates}
                  x={place.x}
                  y={place.y}
                  selected={selected}
                  dimmed={dimmed}
                  parents={node.parentIds.map((id) => titleOf(byId.get(id)?.name ?? String(id)))}
                  onSelect={() => live.current.onSelect(place.id)}
                  onKey={(event) => live.current.move(event, place.id)}
                  onFiles={
                    onFiles !== null && node.parentIds.length === 0
                      ? (files) => live.current.onFiles?.(node.id, files)
                      : null
                  }
                />
              );
              drawn.current.set(place.id, { place, node, selected, dimmed, button });
              return button;
            })}
          </div>
        </section>
      </div>
    </div>
  );
}

interface DrawnNode {
  place: PlacedNode;
  node: NodeInstanceProgress;
  selected: boolean;
  dimmed: boolean;
  button: VNode;
}

function GraphNodeButton(props: {
  node: NodeInstanceProgress;
  hasStates: boolean;
  x: number;
  y: number;
  selected: boolean;
  dimmed: boolean;
  parents: string[];
  onSelect: () => void;
  onKey: (event: KeyboardEvent) => void;
  onFiles: ((files: File[]) => void) | null;
}) {
  const { node } = props;
  const style = stateStyle(node.state);
  const [over, setOver] = useState(false);
  const drop = props.onFiles;
  // The panel has the error in full.
  const details = node.state === 'Failed' ? style.label : node.statusDetails || style.label;
  const rejected = node.rejectedInputs === 0 ? '' : ` · ${node.rejectedInputs} rejected`;
  const place = props.parents.length === 0 ? 'input' : `after ${props.parents.join(', ')}`;
  return (
    <button
      type="button"
      class={`node state-${style.tone}${props.selected ? ' node-selected' : ''}${over ? ' node-over' : ''}${props.dimmed ? ' node-dimmed' : ''}`}
      style={{ left: `${props.x}px`, top: `${props.y}px` }}
      data-node={node.id}
      data-state={node.state}
      aria-pressed={props.selected}
      title={titleOf(node.name)}
      onClick={props.onSelect}
      onKeyDown={props.onKey}
      {...(drop === null ? {} : dropHandlers(setOver, drop))}
    >
      <span class="node-sign">
        <Icon name={style.icon} />
      </span>
      <span class="node-text">
        <span class="node-name">{titleOf(node.name)}</span>
        <span class="node-details">
          {details}
          {rejected}
        </span>
        <span class="visually-hidden">
          {details === style.label || !props.hasStates ? '' : `, ${style.label}`}, {place}
        </span>
      </span>
      {drop !== null && (
        <span class="node-input">
          <Icon name="upload" />
        </span>
      )}
    </button>
  );
}

/** Scrolls only the graph, as far as needed to show the node. */
function showInside(frame: HTMLElement, place: { x: number; y: number }, zoom: number): void {
  const margin = 32;
  const within = (start: number, length: number, shown: number, from: number) =>
    Math.max(start + length + 2 * margin - shown, Math.min(start, from));
  frame.scrollTo({
    left: within(place.x * zoom, sizes.nodeWidth * zoom, frame.clientWidth, frame.scrollLeft),
    top: within(place.y * zoom, sizes.nodeHeight * zoom, frame.clientHeight, frame.scrollTop),
  });
}

/** The nearest node in the direction of an arrow key. */
function neighbour(nodes: { id: number; x: number; y: number }[], from: number, key: string): number | null {
  const start = nodes.find((node) => node.id === from);
  if (start === undefined) return null;
  const directions: Record<string, [number, number]> = {
    ArrowLeft: [-1, 0],
    ArrowRight: [1, 0],
    ArrowUp: [0, -1],
    ArrowDown: [0, 1],
  };
  const direction = directions[key];
  if (direction === undefined) return null;
  const [dx, dy] = direction;
  let best: { id: number; cost: number } | null = null;
  for (const node of nodes) {
    const along = (node.x - start.x) * dx + (node.y - start.y) * dy;
    const aside = Math.abs((node.x - start.x) * dy) + Math.abs((node.y - start.y) * dx);
    if (along <= 0) continue;
    const cost = along + aside * 2;
    if (best === null || cost < best.cost) best = { id: node.id, cost };
  }
  return best?.id ?? null;
}
