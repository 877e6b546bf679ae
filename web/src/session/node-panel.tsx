import { useRef, useState } from 'preact/hooks';
import type { NodeInstanceProgress, SessionDimension } from '../api.ts';
import { explainNode } from '../api.ts';
import { formatTimesIn } from '../format.ts';
import { useResource, useSettled } from '../hooks.ts';
import { useAbilities } from '../role.ts';
import { Ago } from '../ui/ago.tsx';
import { Icon } from '../ui/icon.tsx';
import { StateBadge } from '../ui/state-badge.tsx';
import { dropHandlers } from './graph.tsx';
import { Outputs } from './outputs.tsx';
import { LastRun } from './runs.tsx';
import { UploadList } from './upload-list.tsx';
import type { Uploads } from './uploads.ts';

/** Changes come in bursts; one request follows a burst. */
const settleMs = 300;

/** Details and actions of the chosen node. `round` grows with every change in the session. */
export function NodePanel(props: {
  node: NodeInstanceProgress;
  round: number;
  frozen: boolean;
  uploads: Uploads;
  dimensions: readonly SessionDimension[];
  onSelect: (nodeInstanceId: number) => void;
}) {
  const { node, frozen } = props;
  const { operate } = useAbilities();
  const round = useSettled(props.round, settleMs);
  const isInput = node.parentIds.length === 0;
  return (
    <section class="panel" aria-label={`Node ${node.name}`}>
      <header class="panel-head">
        <h2>{node.name}</h2>
        <StateBadge state={node.state} />
      </header>
      <Why key={`why-${node.id}`} node={node} round={round} />
      <dl class="facts">
        <dt>Node template</dt>
        <dd>{node.nodeTemplateName}</dd>
        <dt>Last run</dt>
        <dd>{node.lastProcessed === null ? 'never' : <Ago at={node.lastProcessed} />}</dd>
      </dl>
      {isInput && frozen && <p class="faint">The session is frozen and takes no uploads.</p>}
      {isInput && !frozen && <UploadArea nodeInstanceId={node.id} uploads={props.uploads} />}
      {operate && <LastRun key={`run-${node.id}`} node={node} round={round} frozen={frozen} />}
      <Outputs
        key={`outputs-${node.id}`}
        node={node}
        dimensions={props.dimensions}
        onSelect={props.onSelect}
      />
    </section>
  );
}

/** The reason for the node's state, and its runner's progress while it works. */
function Why(props: { node: NodeInstanceProgress; round: number }) {
  const { node, round } = props;
  const why = useResource(`${node.id}:${round}`, (signal) => explainNode(node.id, signal), {
    keepWhileLoading: true,
  });
  const details = node.statusDetails ?? '';
  const sentence = why.data === null ? '' : formatTimesIn(why.data.sentence);
  const failed = node.state === 'Failed';
  // A sentence that contains the details is enough.
  const repeats = details !== '' && why.data?.sentence.includes(details.replace(/\.$/, '')) === true;
  return (
    <>
      {details !== '' && !repeats && <p class={failed ? 'details details-failed' : 'details'}>{details}</p>}
      {sentence !== '' && <p class={failed ? 'details details-failed' : 'details'}>{sentence}</p>}
    </>
  );
}

function UploadArea(props: { nodeInstanceId: number; uploads: Uploads }) {
  const [over, setOver] = useState(false);
  const picker = useRef<HTMLInputElement>(null);
  const take = (files: File[]) => props.uploads.start(props.nodeInstanceId, files);
  const own = props.uploads.uploads.filter((upload) => upload.nodeInstanceId === props.nodeInstanceId);
  return (
    <div class="upload">
      <div class={`drop${over ? ' drop-over' : ''}`} {...dropHandlers(setOver, take)}>
        <Icon name="upload" />
        <p>
          Drop a recording here, or{' '}
          <button type="button" class="link-button" onClick={() => picker.current?.click()}>
            choose files
          </button>
        </p>
        <input
          ref={picker}
          type="file"
          multiple
          class="visually-hidden"
          tabIndex={-1}
          aria-label="Files to upload"
          onChange={(event) => {
            take([...(event.currentTarget.files ?? [])]);
            event.currentTarget.value = '';
          }}
        />
      </div>
      <UploadList uploads={own} cancel={props.uploads.cancel} dismiss={props.uploads.dismiss} />
    </div>
  );
}
