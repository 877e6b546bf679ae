import type { OutputLineage } from '../api.ts';
import { readLineage } from '../api.ts';
import { formatBytes } from '../format.ts';
import { useResource } from '../hooks.ts';
import { fileTitle, runnerTitle, titleOf } from '../names.ts';
import { Failure, Placeholder } from '../ui/notice.tsx';

/** The origin of an output: its writer, its run, and the inputs from parent nodes. */
export function LineageFacts(props: { outputId: number; onSelect: (nodeInstanceId: number) => void }) {
  const lineage = useResource(String(props.outputId), (signal) => readLineage(props.outputId, signal));
  if (lineage.error !== null) {
    return <Failure what="The lineage could not be read." error={lineage.error} retry={lineage.reload} />;
  }
  if (lineage.data === null) return <Placeholder rows={1} label="Loading the lineage" />;
  const { nodeTemplate, run, runner, sha256, configuration, inputs } = lineage.data;
  return (
    <dl class="facts lineage">
      <dt>Source</dt>
      <dd>{sourceOf(lineage.data)}</dd>
      {runner !== null && (
        <>
          <dt>Written by</dt>
          <dd>{[runnerTitle(runner.instanceId, runner.label), runner.version].filter(Boolean).join(', ')}</dd>
        </>
      )}
      <dt>Node template</dt>
      <dd>
        {[titleOf(nodeTemplate.name), nodeTemplate.feature, nodeTemplate.featureVersion]
          .filter(Boolean)
          .join(' ')}
      </dd>
      {run !== null && (
        <>
          <dt>Inputs</dt>
          <dd>
            <Inputs inputs={inputs} isRecorded={lineage.data.isRecorded} onSelect={props.onSelect} />
          </dd>
        </>
      )}
      {sha256 !== null && (
        <>
          <dt>SHA-256</dt>
          <dd class="mono">{sha256}</dd>
        </>
      )}
      {configuration !== '' && configuration !== '{}' && (
        <>
          <dt>Configuration</dt>
          <dd class="mono">{configuration}</dd>
        </>
      )}
    </dl>
  );
}

function sourceOf({ source, run }: OutputLineage): string {
  if (source === 'upload' || run === null) return 'an upload';
  const why: Record<string, string> = {
    input: 'a run for new input',
    reprocess: 'a reprocess',
    'follow-up': 'a follow-up run',
  };
  return `${why[run.reason] ?? 'a run'}, attempt ${run.attempt} of ${run.maxAttempts}`;
}

function Inputs(props: {
  inputs: OutputLineage['inputs'];
  isRecorded: boolean;
  onSelect: (nodeInstanceId: number) => void;
}) {
  if (!props.isRecorded) return <>are recorded when the run completes</>;
  if (props.inputs.length === 0) return <>none</>;
  return (
    <ul>
      {props.inputs.map((input) => (
        <li key={input.outputId}>
          <button
            type="button"
            class="link-button"
            onClick={() => props.onSelect(input.nodeInstanceId)}
            title="Show this node"
          >
            {titleOf(input.nodeName)}
          </button>
          : <span title={input.outputIdentifier}>{fileTitle(null, { ...input, contentType: null })}</span>,{' '}
          {formatBytes(input.sizeBytes)}
          {input.isNew && <span class="tag">new</span>}
        </li>
      ))}
    </ul>
  );
}
