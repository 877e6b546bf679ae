import { useRef, useState } from 'preact/hooks';
import type { NodeInstance, NodeOutput } from '../api.ts';
import { listOutputs, readOutputData } from '../api.ts';
import { formatAgo, formatBytes, formatDateTime, plural } from '../format.ts';
import { useResource } from '../hooks.ts';
import { ApiError } from '../http.ts';
import { Icon } from '../ui/icon.tsx';
import { Failure, Notice, Placeholder } from '../ui/notice.tsx';
import { StateBadge } from '../ui/state-badge.tsx';
import { dropHandlers } from './graph.tsx';
import { UploadList } from './upload-list.tsx';
import type { Uploads } from './uploads.ts';

const shownOutputs = 20;

/** What there is to know and to do about the chosen node. */
export function NodePanel(props: { node: NodeInstance; uploads: Uploads }) {
  const { node } = props;
  const isInput = node.parentIds.length === 0;
  return (
    <section class="panel" aria-label={`Node ${node.name}`}>
      <header class="panel-head">
        <h2>{node.name}</h2>
        <StateBadge state={node.state} />
      </header>
      {node.statusDetails !== null && node.statusDetails !== '' && (
        <p class={node.state === 'Failed' ? 'details details-failed' : 'details'}>{node.statusDetails}</p>
      )}
      <dl class="facts">
        <dt>Kind</dt>
        <dd>{node.nodeTemplateName ?? 'no longer registered'}</dd>
        <dt>Last run</dt>
        <dd>
          {node.lastProcessed === null ? (
            'never'
          ) : (
            <time dateTime={node.lastProcessed} title={formatDateTime(node.lastProcessed)}>
              {formatAgo(node.lastProcessed, Date.now())}
            </time>
          )}
        </dd>
      </dl>
      {isInput && <UploadArea nodeInstanceId={node.id} uploads={props.uploads} />}
      <Outputs key={node.id} node={node} />
    </section>
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

function Outputs(props: { node: NodeInstance }) {
  const { node } = props;
  // Read anew whenever the node has something newer.
  const list = useResource(
    `${node.id}:${node.currentOutputId}:${node.lastProcessed}`,
    (signal) => (node.currentOutputId === null ? Promise.resolve([]) : outputsOrNone(node.id, signal)),
    { keepWhileLoading: true },
  );
  const [all, setAll] = useState(false);
  const newestFirst = [...(list.data ?? [])].reverse();
  const shown = all ? newestFirst : newestFirst.slice(0, shownOutputs);
  return (
    <div class="outputs">
      <h3>Outputs</h3>
      {list.error !== null && (
        <Failure what="The outputs could not be read." error={list.error} retry={list.reload} />
      )}
      {list.data === null && list.error === null && <Placeholder rows={2} label="Loading outputs" />}
      {list.data !== null && shown.length === 0 && <p class="faint">None yet.</p>}
      {shown.length > 0 && (
        <ul class="output-list">
          {shown.map((output) => (
            <OutputItem key={output.id} output={output} newest={output.id === node.currentOutputId} />
          ))}
        </ul>
      )}
      {newestFirst.length > shown.length && (
        <button type="button" class="button button-small" onClick={() => setAll(true)}>
          Show all {plural(newestFirst.length, 'output', 'outputs')}
        </button>
      )}
    </div>
  );
}

/** The platform answers 404 for a node that has no output; here that is an empty list. */
async function outputsOrNone(nodeInstanceId: number, signal: AbortSignal): Promise<NodeOutput[]> {
  try {
    return await listOutputs(nodeInstanceId, signal);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return [];
    throw error;
  }
}

function OutputItem(props: { output: NodeOutput; newest: boolean }) {
  const { output } = props;
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const name = outputName(output);
  const download = async () => {
    setBusy(true);
    setProblem(null);
    try {
      await saveOutput(output, name);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : 'The download failed.');
    } finally {
      setBusy(false);
    }
  };
  const facts = [
    typeof output.sizeBytes === 'number' ? formatBytes(output.sizeBytes) : null,
    output.contentType ?? null,
    output.contentEncoding ?? null,
  ];
  return (
    <li class="output">
      <div class="output-text">
        <div class="output-title">
          <span class="output-name" title={name}>
            {name}
          </span>
          {props.newest && <span class="tag">newest</span>}
        </div>
        <div class="faint">
          <time dateTime={output.createdAt} title={formatDateTime(output.createdAt)}>
            {formatAgo(output.createdAt, Date.now())}
          </time>
          {facts.filter((fact) => fact !== null && fact !== '').map((fact) => ` · ${fact}`)}
        </div>
        {problem !== null && <Notice tone="error">{problem}</Notice>}
      </div>
      <button
        type="button"
        class="button button-icon"
        aria-label={`Download ${name}`}
        title="Download"
        disabled={busy}
        onClick={() => void download()}
      >
        <Icon name={busy ? 'spinner' : 'download'} />
      </button>
    </li>
  );
}

/** The name of the file that was uploaded, where that is known. */
function outputName(output: NodeOutput): string {
  const fileName = output.metadata?.fileName;
  if (typeof fileName === 'string' && fileName !== '') return fileName;
  return output.outputIdentifier ?? `output-${output.id}`;
}

/** The bytes need the bearer token, which a plain link cannot carry: they are fetched, then handed to the browser. */
async function saveOutput(output: NodeOutput, name: string): Promise<void> {
  const response = await readOutputData(output.id);
  const address = URL.createObjectURL(await response.blob());
  const link = document.createElement('a');
  link.href = address;
  link.download = fileName(name, response.headers.get('Content-Type'));
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

function fileName(name: string, contentType: string | null): string {
  const plain = name.replace(/[\\/:*?"<>|]+/g, '_');
  if (/\.[a-z0-9]{1,8}$/i.test(plain)) return plain;
  const endings: Record<string, string> = {
    'text/csv': '.csv',
    'text/tab-separated-values': '.tsv',
    'application/json': '.json',
    'application/x-ndjson': '.ndjson',
    'application/vnd.apache.parquet': '.parquet',
    'text/plain': '.txt',
  };
  return plain + (endings[(contentType ?? '').split(';')[0]?.trim() ?? ''] ?? '.bin');
}
