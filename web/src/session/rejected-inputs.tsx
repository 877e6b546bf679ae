import { useState } from 'preact/hooks';
import type { NodeInstanceProgress, RejectedInputs } from '../api.ts';
import { listRejectedInputs, reprocessNode } from '../api.ts';
import { formatBytes, plural } from '../format.ts';
import { useAction, useEvery, useResource } from '../hooks.ts';
import { fileTitle } from '../names.ts';
import { useAbilities } from '../role.ts';
import { isUnderWay } from '../states.ts';
import { Ago } from '../ui/ago.tsx';
import { Icon } from '../ui/icon.tsx';
import { Failure, Notice, Placeholder } from '../ui/notice.tsx';
import { refreshMs } from '../ui/refreshed-list.ts';

type RejectedInput = RejectedInputs['rejectedInputs'][number];

/** Inputs that the node rejected, with the reason; operators run the node again with chosen ones. */
export function RejectedInputsPart(props: { node: NodeInstanceProgress; round: number; frozen: boolean }) {
  const { node, frozen } = props;
  const { operate } = useAbilities();
  const { list, inputs, page, totalPages, setPage } = useRejectedInputs(node, props.round);
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const [started, setStarted] = useStarted(node);
  const choose = (on: boolean, ids: readonly number[]) => {
    const others = [...chosen].filter((id) => !ids.includes(id));
    setChosen(new Set(on ? [...others, ...ids] : others));
    setStarted(0);
  };
  return (
    <section class="panel-part" aria-label="Rejected inputs">
      <div class="panel-line">
        <h3>Rejected inputs</h3>
        <span class="faint">{node.rejectedInputs}</span>
      </div>
      {list.error !== null && (
        <Failure what="The rejected inputs could not be read." error={list.error} retry={list.reload} />
      )}
      {list.data === null && list.loading && <Placeholder rows={2} label="Loading rejected inputs" />}
      {operate && !frozen && inputs.length > 0 && (
        <RunAgain
          nodeInstanceId={node.id}
          shown={inputs}
          chosen={chosen}
          choose={choose}
          onStarted={(count) => {
            setChosen(new Set());
            setStarted(count);
          }}
        />
      )}
      {started > 0 && (
        <Notice tone="done">The node runs again with {plural(started, 'input', 'inputs')}.</Notice>
      )}
      <ul class="output-list rejected-list">
        {inputs.map((input) => (
          <RejectedItem
            key={input.outputId}
            input={input}
            chosen={chosen.has(input.outputId)}
            choose={operate && !frozen ? (on) => choose(on, [input.outputId]) : null}
          />
        ))}
      </ul>
      <Turn page={page} totalPages={totalPages} onPage={setPage} />
    </section>
  );
}

/** With how many inputs the node was run again, until that run has ended. */
function useStarted({ lastProcessed }: NodeInstanceProgress) {
  const [started, setStarted] = useState<{ count: number; after: string | null } | null>(null);
  const count = started?.after === lastProcessed ? started.count : 0;
  return [count, (next: number) => setStarted({ count: next, after: lastProcessed })] as const;
}

/** A page of them; read again at each change, since a run may reject the same inputs for another reason. */
function useRejectedInputs(node: NodeInstanceProgress, round: number) {
  const [page, setPage] = useState(1);
  const list = useResource(`${node.id}:${page}`, (signal) => listRejectedInputs(node.id, page, signal), {
    keepWhileLoading: true,
    version: round,
  });
  // A run that rejects an input once more, for another reason, leaves their count as it is: no event says so.
  useEvery(refreshMs, isUnderWay(node.state), list.reload);
  const { rejectedInputs: inputs = [], totalPages = 1 } = list.data ?? {};
  // The last input of the last page may have gone.
  if (list.data !== null && !list.loading && page > Math.max(1, totalPages)) setPage(Math.max(1, totalPages));
  return { list, inputs, page, totalPages, setPage };
}

function RunAgain(props: {
  nodeInstanceId: number;
  shown: readonly RejectedInput[];
  chosen: ReadonlySet<number>;
  choose: (on: boolean, ids: readonly number[]) => void;
  onStarted: (count: number) => void;
}) {
  const { shown, chosen, choose } = props;
  const action = useAction();
  const ids = shown.map(({ outputId }) => outputId);
  const hasAll = ids.every((id) => chosen.has(id));
  const run = async () => {
    const inputs = [...chosen];
    if (inputs.length === 0) return;
    if (await action.run(() => reprocessNode(props.nodeInstanceId, inputs))) props.onStarted(inputs.length);
  };
  return (
    <>
      <div class="actions">
        <label class="check">
          <input type="checkbox" checked={hasAll} onChange={() => choose(!hasAll, ids)} />
          Choose all shown
        </label>
        <button
          type="button"
          class="button button-small"
          aria-disabled={action.busy || chosen.size === 0}
          title="Runs the node over the chosen inputs alone"
          onClick={() => void run()}
        >
          <Icon name="play" />
          {chosen.size === 0 ? 'Run again with these' : `Run again with these ${chosen.size}`}
        </button>
      </div>
      {action.problem !== null && <Notice tone="error">{action.problem}</Notice>}
    </>
  );
}

function RejectedItem(props: {
  input: RejectedInput;
  chosen: boolean;
  /** Null for people who cannot run the node again. */
  choose: ((on: boolean) => void) | null;
}) {
  const { input, chosen, choose } = props;
  const { readRuns } = useAbilities();
  const name = fileTitle(input.fileName, input);
  return (
    <li class="output">
      <div class="output-line rejected-line">
        {choose !== null && (
          <input
            type="checkbox"
            aria-label={`Choose ${name}`}
            checked={chosen}
            onChange={(event) => choose(event.currentTarget.checked)}
          />
        )}
        <div class="output-text">
          <div class="output-title">
            <span class="output-name" title={input.outputIdentifier}>
              {name}
            </span>
          </div>
          <div class="rejected-reason">{input.reason}</div>
          <div class="faint">
            <Ago at={input.rejectedAt} />
            {` · ${input.category} · ${formatBytes(input.sizeBytes)} · `}
            {readRuns ? <a href={`/runs/${input.runId}`}>Run</a> : null}
            {readRuns ? `, attempt ${input.attempt}` : `attempt ${input.attempt}`}
          </div>
        </div>
      </div>
    </li>
  );
}

/** Pages of the list, without moving the page of the session. */
function Turn(props: { page: number; totalPages: number; onPage: (page: number) => void }) {
  const { page, totalPages, onPage } = props;
  if (totalPages <= 1) return null;
  return (
    <nav class="actions" aria-label="Pages of rejected inputs">
      <button type="button" class="button button-small" disabled={page <= 1} onClick={() => onPage(page - 1)}>
        Newer
      </button>
      <span class="faint">
        Page {page} of {totalPages}
      </span>
      <button
        type="button"
        class="button button-small"
        disabled={page >= totalPages}
        onClick={() => onPage(page + 1)}
      >
        Older
      </button>
    </nav>
  );
}
