import { useState } from 'preact/hooks';
import { ApiError } from '../../../client/errors.ts';
import type { NodeInstanceProgress, NodeOutput, SessionDimension } from '../api.ts';
import { listOutputs, readOutputData } from '../api.ts';
import { formatBytes, plural } from '../format.ts';
import { useAction, useResource } from '../hooks.ts';
import { saveAnswer } from '../save.ts';
import { Ago } from '../ui/ago.tsx';
import { Icon } from '../ui/icon.tsx';
import { ReloadNotice, useModule } from '../ui/lazy.tsx';
import { Failure, Notice, Placeholder } from '../ui/notice.tsx';
import { LineageFacts } from './lineage.tsx';

const shownOutputs = 20;

/** The node's outputs, newest first, each with its bytes and its origin. */
export function Outputs(props: {
  node: NodeInstanceProgress;
  /** The session's dashboards, which can draw its recordings. */
  dimensions: readonly SessionDimension[];
  onSelect: (nodeInstanceId: number) => void;
}) {
  const { node } = props;
  // Read again whenever the node has a newer output.
  const list = useResource(
    `${node.id}:${node.currentOutputId}:${node.lastProcessed}`,
    (signal) => (node.currentOutputId === null ? Promise.resolve([]) : outputsOrNone(node.id, signal)),
    { keepWhileLoading: true },
  );
  const [all, setAll] = useState(false);
  const newestFirst = [...(list.data ?? [])].reverse();
  const shown = all ? newestFirst : newestFirst.slice(0, shownOutputs);
  return (
    <div class="panel-part">
      <h3>Outputs</h3>
      {list.error !== null && (
        <Failure what="The outputs could not be read." error={list.error} retry={list.reload} />
      )}
      {list.data === null && list.error === null && <Placeholder rows={2} label="Loading outputs" />}
      {list.data !== null && shown.length === 0 && <p class="faint">None yet.</p>}
      {shown.length > 0 && (
        <ul class="output-list">
          {shown.map((output) => (
            <OutputItem
              key={output.id}
              output={output}
              newest={output.id === node.currentOutputId}
              dimensions={props.dimensions}
              onSelect={props.onSelect}
            />
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
async function outputsOrNone(nodeInstanceId: number, signal: AbortSignal): Promise<readonly NodeOutput[]> {
  try {
    return await listOutputs(nodeInstanceId, signal);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return [];
    throw error;
  }
}

function OutputItem(props: {
  output: NodeOutput;
  newest: boolean;
  dimensions: readonly SessionDimension[];
  onSelect: (id: number) => void;
}) {
  const { output } = props;
  const download = useAction();
  const [open, setOpen] = useState(false);
  const [previewing, setPreviewing] = useState(false);
  const name = outputName(output);
  const facts = [formatBytes(output.sizeBytes), output.contentType, output.contentEncoding];
  return (
    <li class="output">
      <div class="output-line">
        <div class="output-text">
          <div class="output-title">
            <span class="output-name" title={name}>
              {name}
            </span>
            {props.newest && <span class="tag">newest</span>}
          </div>
          <div class="faint">
            <Ago at={output.createdAt} />
            {facts.filter((fact) => fact !== null && fact !== '').map((fact) => ` · ${fact}`)}
          </div>
        </div>
        <button
          type="button"
          class="button button-icon"
          aria-label={`Preview of ${name}`}
          title="Preview"
          onClick={() => setPreviewing(true)}
        >
          <Icon name="eye" />
        </button>
        <button
          type="button"
          class="button button-icon"
          aria-label={`Lineage of ${name}`}
          aria-expanded={open}
          title="Lineage: where it comes from"
          onClick={() => setOpen(!open)}
        >
          <Icon name="branch" />
        </button>
        <button
          type="button"
          class="button button-icon"
          aria-label={`Download ${name}`}
          title="Download"
          aria-disabled={download.busy}
          onClick={() =>
            void download.run(async () => saveAnswer(await readOutputData(output.id), fileNameOf(name)))
          }
        >
          <Icon name={download.busy ? 'spinner' : 'download'} />
        </button>
      </div>
      {download.problem !== null && <Notice tone="error">{download.problem}</Notice>}
      {previewing && (
        <PreviewLoader
          output={output}
          name={name}
          dimensions={props.dimensions}
          onClose={() => setPreviewing(false)}
        />
      )}
      {open && <LineageFacts outputId={output.id} onSelect={props.onSelect} />}
    </li>
  );
}

/** The code for tables and charts is fetched when a preview is opened. */
function PreviewLoader(props: {
  output: NodeOutput;
  name: string;
  dimensions: readonly SessionDimension[];
  onClose: () => void;
}) {
  const View = useModule(
    () => import('../preview/preview.tsx'),
    (module) => module.OutputPreview,
  );
  if (View === 'failed') return <ReloadNotice />;
  if (View === null) return <Placeholder rows={1} label="Loading" />;
  return <View {...props} />;
}

/** The name of the uploaded file, if known. */
function outputName(output: NodeOutput): string {
  const fileName = output.metadata?.fileName;
  if (typeof fileName === 'string' && fileName !== '') return fileName;
  return output.outputIdentifier;
}

/** The name with an ending for the type that the platform sends. */
function fileNameOf(name: string): (response: Response) => string {
  const plain = name.replace(/[\\/:*?"<>|]+/g, '_');
  const endings: Record<string, string> = {
    'text/csv': '.csv',
    'text/tab-separated-values': '.tsv',
    'application/json': '.json',
    'application/x-ndjson': '.ndjson',
    'application/vnd.apache.parquet': '.parquet',
    'text/plain': '.txt',
  };
  return (response) => {
    if (/\.[a-z0-9]{1,8}$/i.test(plain)) return plain;
    const contentType = response.headers.get('Content-Type') ?? '';
    return plain + (endings[contentType.split(';')[0]?.trim() ?? ''] ?? '.bin');
  };
}
