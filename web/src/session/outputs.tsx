import { useRef, useState } from 'preact/hooks';
import type { ListedOutput, NodeInstanceProgress, SessionDimension } from '../api.ts';
import { formatBytes, formatExactly } from '../format.ts';
import { useAction, useResource } from '../hooks.ts';
import { outputTitle } from '../names.ts';
import { Ago } from '../ui/ago.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Notice } from '../ui/notice.tsx';
import { readAgainMs } from './in-steps.ts';
import { Kept } from './kept.tsx';
import { LineageFacts } from './lineage.tsx';
import { DownloadOutput, usePreview } from './output-parts.tsx';
import { newestOutputs, outputVersion, ShowMore } from './session-outputs.tsx';
import { ReplaceFile } from './upload/replace-file.tsx';

const shownAtOnce = 20;

interface Props {
  /** The session's dashboards, which can draw its recordings. */
  dimensions: readonly SessionDimension[];
  onSelect: (nodeInstanceId: number) => void;
  /** Uploads a file in the place of an output; null where none may be uploaded. */
  replace: ((file: File, identifier: string) => void) | null;
}

type ItemProps = Props & { output: ListedOutput; newest: boolean };

/** The node's outputs, newest first, each with its bytes and its origin. */
export function Outputs(props: Props & { sessionId: string; node: NodeInstanceProgress }) {
  const { sessionId, node } = props;
  const [count, setCount] = useState(shownAtOnce);
  /** A kept item calls what the page has by then. */
  const latest = useRef<Props>(props);
  latest.current = props;
  // Read again whenever the node has a newer output.
  const list = useResource(
    `${node.id} ${count}`,
    (signal) => newestOutputs(sessionId, count, { nodeInstanceId: node.id }, signal),
    { version: outputVersion([node]), keepWhileLoading: true, burstMs: readAgainMs(count) },
  );
  return (
    <div class="panel-part">
      <h3>Outputs</h3>
      <Loaded of={list} failure="The outputs could not be read." rows={2} label="Loading outputs">
        {({ outputs }) =>
          outputs.length === 0 ? (
            <p class="faint">None yet.</p>
          ) : (
            <ul class="output-list">
              {outputs.map((output) => (
                <KeptItem
                  key={output.id}
                  {...props}
                  output={output}
                  newest={output.id === node.currentOutputId}
                  latest={latest}
                />
              ))}
            </ul>
          )
        }
      </Loaded>
      <ShowMore of={list} shown={count} what={['output', 'outputs']} show={setCount} />
    </div>
  );
}

function KeptItem(props: ItemProps & { latest: { current: Props } }) {
  const { output, newest, dimensions, replace, latest } = props;
  return (
    <Kept of={[JSON.stringify(output), newest, dimensions, replace === null]}>
      {() => (
        <OutputItem
          output={output}
          newest={newest}
          dimensions={dimensions}
          onSelect={(id) => latest.current.onSelect(id)}
          replace={replace && ((file, identifier) => latest.current.replace?.(file, identifier))}
        />
      )}
    </Kept>
  );
}

function OutputItem(props: ItemProps) {
  const { output, replace } = props;
  const download = useAction();
  const [open, setOpen] = useState(false);
  const { preview, open: openPreview } = usePreview(output, props.dimensions);
  // Versions of a file, and outputs without a name of their own, have the same title.
  const name = `${outputTitle(output)}, ${formatExactly(output.createdAt)}`;
  return (
    <li class="output">
      <div class="output-line">
        <OutputText output={output} newest={props.newest} />
        {replace !== null && (
          <ReplaceFile name={outputTitle(output)} onFile={(file) => replace(file, output.outputIdentifier)} />
        )}
        <button
          type="button"
          class="button button-icon"
          aria-label={`Preview of ${name}`}
          title="Preview"
          onClick={openPreview}
        >
          <Icon name="eye" />
        </button>
        <button
          type="button"
          class="button button-icon"
          aria-label={`Lineage of ${name}`}
          aria-expanded={open}
          title="Lineage: origin of the output"
          onClick={() => setOpen(!open)}
        >
          <Icon name="branch" />
        </button>
        <DownloadOutput output={output} name={name} action={download} />
      </div>
      {download.problem !== null && <Notice tone="error">{download.problem}</Notice>}
      {preview}
      {open && <LineageFacts outputId={output.id} onSelect={props.onSelect} />}
    </li>
  );
}

function OutputText({ output, newest }: { output: ListedOutput; newest: boolean }) {
  const name = outputTitle(output);
  const facts = [formatBytes(output.sizeBytes), output.contentType, output.contentEncoding];
  return (
    <div class="output-text">
      <div class="output-title">
        <span class="output-name" title={name}>
          {name}
        </span>
        {newest && <span class="tag">newest</span>}
      </div>
      <div class="faint">
        <Ago at={output.createdAt} />
        {facts.filter((fact) => fact !== null && fact !== '').map((fact) => ` · ${fact}`)}
      </div>
    </div>
  );
}
