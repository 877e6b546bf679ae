import { useState } from 'preact/hooks';
import type { NodeInstanceProgress, NodeOutput, SessionDimension } from '../api.ts';
import { formatBytes, plural } from '../format.ts';
import { useAction, useResource } from '../hooks.ts';
import { outputTitle } from '../names.ts';
import { Ago } from '../ui/ago.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Notice } from '../ui/notice.tsx';
import { LineageFacts } from './lineage.tsx';
import { DownloadOutput, outputsOrNone, usePreview } from './output-parts.tsx';
import { ReplaceFile } from './upload/replace-file.tsx';

const shownOutputs = 20;

interface Props {
  /** The session's dashboards, which can draw its recordings. */
  dimensions: readonly SessionDimension[];
  onSelect: (nodeInstanceId: number) => void;
  /** Uploads a file in the place of an output; null where none may be uploaded. */
  replace: ((file: File, identifier: string) => void) | null;
}

/** The node's outputs, newest first, each with its bytes and its origin. */
export function Outputs(props: Props & { node: NodeInstanceProgress }) {
  const { node } = props;
  // Read again whenever the node has a newer output.
  const list = useResource(
    String(node.id),
    (signal) => (node.currentOutputId === null ? Promise.resolve([]) : outputsOrNone(node.id, signal)),
    { version: `${node.currentOutputId}:${node.lastProcessed}` },
  );
  const [all, setAll] = useState(false);
  const newestFirst = [...(list.data ?? [])].reverse();
  const shown = all ? newestFirst : newestFirst.slice(0, shownOutputs);
  return (
    <div class="panel-part">
      <h3>Outputs</h3>
      <Loaded of={list} failure="The outputs could not be read." rows={2} label="Loading outputs">
        {() =>
          shown.length === 0 ? (
            <p class="faint">None yet.</p>
          ) : (
            <ul class="output-list">
              {shown.map((output) => (
                <OutputItem
                  key={output.id}
                  output={output}
                  newest={output.id === node.currentOutputId}
                  dimensions={props.dimensions}
                  onSelect={props.onSelect}
                  replace={props.replace}
                />
              ))}
            </ul>
          )
        }
      </Loaded>
      {newestFirst.length > shown.length && (
        <button type="button" class="button button-small" onClick={() => setAll(true)}>
          Show all {plural(newestFirst.length, 'output', 'outputs')}
        </button>
      )}
    </div>
  );
}

function OutputItem(props: Props & { output: NodeOutput; newest: boolean }) {
  const { output, replace } = props;
  const download = useAction();
  const [open, setOpen] = useState(false);
  const { preview, open: openPreview } = usePreview(output, props.dimensions);
  const name = outputTitle(output);
  return (
    <li class="output">
      <div class="output-line">
        <OutputText output={output} newest={props.newest} />
        {replace !== null && (
          <ReplaceFile name={name} onFile={(file) => replace(file, output.outputIdentifier)} />
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
        <DownloadOutput output={output} action={download} />
      </div>
      {download.problem !== null && <Notice tone="error">{download.problem}</Notice>}
      {preview}
      {open && <LineageFacts outputId={output.id} onSelect={props.onSelect} />}
    </li>
  );
}

function OutputText({ output, newest }: { output: NodeOutput; newest: boolean }) {
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
