import { Fragment } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { NodeInstanceProgress, SessionDimension } from '../api.ts';
import { titleOf } from '../names.ts';
import { useAbilities } from '../role.ts';
import { Ago } from '../ui/ago.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { dropHandlers } from '../ui/drop-handlers.ts';
import { useFilePicker } from '../ui/file-picker.tsx';
import { Icon } from '../ui/icon.tsx';
import { lazy } from '../ui/lazy.tsx';
import { StateBadge } from '../ui/state-badge.tsx';
import { Outputs } from './outputs.tsx';
import { LastRun } from './runs.tsx';
import { frozenRefusal } from './upload/uploads.ts';
import { useWhy } from './why.ts';

/** Few nodes have any. */
const RejectedInputsPart = lazy(
  () => import('./rejected-inputs.tsx').then((module) => module.RejectedInputsPart),
  null,
);

/** Details and actions of the chosen node. `round` grows with every change in the session. */
export function NodePanel(props: {
  sessionId: string;
  node: NodeInstanceProgress;
  /** All of the session. */
  nodes: readonly NodeInstanceProgress[];
  round: number;
  frozen: boolean;
  /** Uploads files to the node. */
  upload: (files: File[]) => void;
  /** Uploads a file in the place of the output of this identifier. */
  replace: (nodeInstanceId: number, file: File, identifier: string) => void;
  dimensions: readonly SessionDimension[];
  onSelect: (nodeInstanceId: number) => void;
  /** The address names the node. */
  isAsked: boolean;
}) {
  const { node, nodes, round, frozen } = props;
  const { readRuns } = useAbilities();
  const isInput = node.parentIds.length === 0;
  return (
    <section class="panel" aria-label={`Node ${titleOf(node.name)}`}>
      <PanelHead node={node} isAsked={props.isAsked} />
      <Why key={`why-${node.id}`} node={node} nodes={nodes} round={round} />
      <NodeFacts node={node} />
      {isInput && frozen && <p class="faint">{frozenRefusal}</p>}
      {isInput && !frozen && <UploadArea upload={props.upload} />}
      {!readRuns && node.state === 'Failed' && !frozen && (
        <OtherFile nodes={nodes} onSelect={props.onSelect} />
      )}
      {readRuns && (
        <LastRun key={`run-${node.id}`} {...{ node, nodes, round, frozen }} replace={props.replace} />
      )}
      {node.rejectedInputs > 0 && (
        <RejectedInputsPart key={`rejected-${node.id}`} node={node} round={round} frozen={frozen} />
      )}
      <Outputs
        key={`outputs-${node.id}`}
        sessionId={props.sessionId}
        node={node}
        dimensions={props.dimensions}
        onSelect={props.onSelect}
        replace={isInput && !frozen ? (file, identifier) => props.replace(node.id, file, identifier) : null}
      />
    </section>
  );
}

function PanelHead({ node, isAsked }: { node: NodeInstanceProgress; isAsked: boolean }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    // The link that led here may have gone, and left the focus at the content.
    if (isAsked && document.activeElement?.matches('body, #main')) heading.current?.focus();
  }, []);
  return (
    <header class="panel-head">
      <h2 ref={heading} tabIndex={-1} title={node.name}>
        {titleOf(node.name)}
      </h2>
      <StateBadge state={node.state} />
    </header>
  );
}

/** The reason for the node's state, and its runner's progress while it works. */
function Why(props: { node: NodeInstanceProgress; nodes: readonly NodeInstanceProgress[]; round: number }) {
  const { node, round } = props;
  const text = useWhy(node, props.nodes, round);
  if (text === '') return null;
  if (node.state !== 'Failed') return <p class="details">{text}</p>;
  return (
    <div class="details details-failed">
      <p>{text}</p>
      <CopyButton text={text} label="Copy the error" />
    </div>
  );
}

/** The way to another file for those who may not read the inputs of runs, which name the file that failed. */
function OtherFile(props: {
  nodes: readonly NodeInstanceProgress[];
  onSelect: (nodeInstanceId: number) => void;
}) {
  return (
    <p>
      To run it with another file, replace the one in{' '}
      {props.nodes
        .filter(({ parentIds }) => parentIds.length === 0)
        .map(({ id, name }, index) => (
          <Fragment key={id}>
            {index > 0 && ' or '}
            <button type="button" class="link-button" onClick={() => props.onSelect(id)}>
              {titleOf(name)}
            </button>
          </Fragment>
        ))}
      .
    </p>
  );
}

function NodeFacts({ node }: { node: NodeInstanceProgress }) {
  return (
    <dl class="facts">
      <dt>Node template</dt>
      <dd title={node.nodeTemplateName}>{titleOf(node.nodeTemplateName)}</dd>
      <dt>{node.parentIds.length === 0 ? 'Last upload' : 'Last run'}</dt>
      <dd>{node.lastProcessed === null ? 'none yet' : <Ago at={node.lastProcessed} />}</dd>
    </dl>
  );
}

function UploadArea(props: { upload: (files: File[]) => void }) {
  const [over, setOver] = useState(false);
  const picker = useFilePicker({ label: 'Files to upload', multiple: true, onFiles: props.upload });
  return (
    <div class="upload">
      <div class={`drop${over ? ' drop-over' : ''}`} {...dropHandlers(setOver, props.upload)}>
        <Icon name="upload" />
        <p>
          Drop a recording here, or{' '}
          <button type="button" class="link-button" onClick={picker.open}>
            choose files
          </button>
        </p>
        {picker.field}
      </div>
    </div>
  );
}
