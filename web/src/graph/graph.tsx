import type { RefObject, VNode } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { NodeInstanceProgress } from '../api.ts';
import { titleOf } from '../names.ts';
import { nodeStyle } from '../states.ts';
import { dropHandlers } from '../ui/drop-handlers.ts';
import { Icon } from '../ui/icon.tsx';
import type { GraphLayout, PlacedNode } from './graph-layout.ts';
import { layoutGraph } from './graph-layout.ts';
import { linesOf } from './graph-lines.ts';
import { isSmall, nameLines, useZoom } from './graph-zoom.tsx';

/** The width of a sheet of A4 for the nodes of a graph: see print.css. */
const sheetPx = 640;
const sizes = { nodeWidth: 204, nodeHeight: 64, columnGap: 48, rowGap: 20 };

interface GraphProps {
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
}

/**
 * A graph of nodes. Nodes are buttons, so that they can be reached by Tab and the arrow keys and are read with name,
 * state and parents; lines are only drawn. Files dropped on an input node go to `onFiles`.
 */
export function SessionGraph(props: GraphProps) {
  const { nodes, found = null } = props;
  const shape = nodes.map((node) => `${node.id}:${node.parentIds.join('.')}`).join(' ');
  const unfolded = useMemo(() => layoutGraph(nodes, sizes), [shape]);
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLElement>(null);

  const { zoom, layout, tools } = useZoom(frame, unfolded, sizes);

  useSize(canvas, layout, zoom);

  const first =
    found === null ? props.selectedId : (layout.nodes.find(({ id }) => found.has(id))?.id ?? null);
  useEffect(() => {
    const place = layout.nodes.find((node) => node.id === first);
    if (frame.current !== null && place !== undefined) showInside(frame.current, place, zoom);
  }, [layout, first, zoom]);

  const buttons = useNodeButtons(props, frame, layout.nodes, byId);

  return (
    <div class="graph-frame">
      {tools}
      <div class="graph" ref={frame}>
        <section
          class={isSmall(zoom) ? 'graph-canvas graph-small' : 'graph-canvas'}
          ref={canvas}
          aria-label={props.label ?? 'Graph of the session'}
        >
          <div class="graph-scaled" style={scaleOf(zoom)}>
            <GraphLines layout={layout} nodes={byId} />
            {buttons}
          </div>
        </section>
      </div>
    </div>
  );
}

/** Sets the size of the canvas, on the screen and on paper. */
function useSize(canvas: RefObject<HTMLElement | null>, layout: GraphLayout, zoom: number): void {
  useEffect(() => {
    if (canvas.current === null) return;
    const { style } = canvas.current;
    style.width = `${layout.width * zoom}px`;
    style.height = `${layout.height * zoom}px`;
    style.setProperty('--sheet-zoom', String(Math.min(1, sheetPx / (layout.width * zoom))));
  }, [layout, zoom]);
}

const scaleOf = (zoom: number) => ({
  transform: `scale(${zoom})`,
  '--zoom': String(zoom),
  '--name-lines': String(nameLines(zoom, sizes.nodeHeight)),
});

type NodesById = ReadonlyMap<number, NodeInstanceProgress>;

function GraphLines(props: { layout: GraphLayout; nodes: NodesById }) {
  const { width, height, edges } = props.layout;
  const lines = useMemo(() => linesOf(edges), [edges]);
  return (
    <svg class="graph-lines" width={width} height={height} aria-hidden="true">
      {lines.map(({ from, path }) => (
        <path
          key={from}
          d={path}
          class={`graph-line line-${nodeStyle(props.nodes.get(from)?.state ?? '').tone}`}
        />
      ))}
    </svg>
  );
}

interface DrawnNode {
  place: PlacedNode;
  node: NodeInstanceProgress;
  selected: boolean;
  dimmed: boolean;
  button: VNode;
}

/** A change of one node renders only that node: the others are returned from the previous render. */
function useNodeButtons(
  { selectedId, found = null, hasStates = true, onFiles, onSelect }: GraphProps,
  frame: RefObject<HTMLElement | null>,
  places: readonly PlacedNode[],
  byId: NodesById,
): (VNode | null)[] {
  const move = (event: KeyboardEvent, from: number) => {
    const target = neighbour(places, from, event.key);
    if (target === null) return;
    event.preventDefault();
    onSelect(target);
    frame.current?.querySelector<HTMLElement>(`[data-node="${target}"]`)?.focus();
  };
  const live = useRef({ onSelect, onFiles, move });
  live.current = { onSelect, onFiles, move };
  const drawn = useRef(new Map<number, DrawnNode>());
  return places.map((place) => {
    const node = byId.get(place.id);
    if (node === undefined) return null;
    const selected = selectedId === place.id;
    const dimmed = found !== null && !found.has(node.id);
    const before = drawn.current.get(place.id);
    const isSame = before?.place === place && before.node === node && before.selected === selected;
    if (isSame && before.dimmed === dimmed) return before.button;
    const takesFiles = onFiles !== null && node.parentIds.length === 0;
    const button = (
      <GraphNodeButton
        key={place.id}
        node={node}
        hasStates={hasStates}
        place={place}
        selected={selected}
        dimmed={dimmed}
        parents={node.parentIds.map((id) => titleOf(byId.get(id)?.name ?? String(id)))}
        onSelect={() => live.current.onSelect(place.id)}
        onKey={(event) => live.current.move(event, place.id)}
        onFiles={takesFiles ? (files) => live.current.onFiles?.(node.id, files) : null}
      />
    );
    drawn.current.set(place.id, { place, node, selected, dimmed, button });
    return button;
  });
}

function GraphNodeButton(props: {
  node: NodeInstanceProgress;
  hasStates: boolean;
  place: PlacedNode;
  selected: boolean;
  dimmed: boolean;
  /** Their titles. */
  parents: string[];
  onSelect: () => void;
  onKey: (event: KeyboardEvent) => void;
  onFiles: ((files: File[]) => void) | null;
}) {
  const { node, place, onFiles } = props;
  const style = nodeStyle(node.state);
  const [over, setOver] = useState(false);
  return (
    <button
      type="button"
      class={`node state-${style.tone}${props.selected ? ' node-selected' : ''}${over ? ' node-over' : ''}${props.dimmed ? ' node-dimmed' : ''}`}
      style={{ left: `${place.x}px`, top: `${place.y}px` }}
      data-node={node.id}
      data-state={node.state}
      aria-pressed={props.selected}
      title={titleOf(node.name)}
      onClick={props.onSelect}
      onKeyDown={props.onKey}
      {...(onFiles === null ? {} : dropHandlers(setOver, onFiles))}
    >
      <span class="node-sign">
        <Icon name={style.icon} />
      </span>
      <NodeText node={node} hasStates={props.hasStates} parents={props.parents} />
      {onFiles !== null && (
        <span class="node-input">
          <Icon name="upload" />
        </span>
      )}
    </button>
  );
}

/** Its name and details, and for screen readers its state and parents. */
function NodeText(props: { node: NodeInstanceProgress; hasStates: boolean; parents: string[] }) {
  const { node, parents } = props;
  const label = props.hasStates ? nodeStyle(node.state).label : '';
  // The panel has the error in full.
  const details = node.state === 'Failed' ? label : node.statusDetails || label;
  const place = parents.length === 0 ? 'input' : `after ${parents.join(', ')}`;
  return (
    <span class="node-text">
      <span class="node-name">{titleOf(node.name)}</span>
      <span class="node-details">
        {/* First: the rest may be cut. */}
        {node.rejectedInputs === 0 ? '' : `${node.rejectedInputs} rejected · `}
        {details}
      </span>
      <span class="visually-hidden">
        {details === label || label === '' ? '' : `, ${label}`}, {place}
      </span>
    </span>
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
function neighbour(nodes: readonly PlacedNode[], from: number, key: string): number | null {
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
