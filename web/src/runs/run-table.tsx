import { useNow } from '../hooks.ts';
import { runnerTitle, templateTitle, titleOf, withoutCategory } from '../names.ts';
import type { NodeRun } from '../runs-api.ts';
import { Ago } from '../ui/ago.tsx';
import { figureColumn, Table } from '../ui/table.tsx';
import type { ShownRun } from './list-model.ts';
import { elapsedOf, isOpenRun, progressWords } from './model.ts';
import { RunBadge } from './run-badge.tsx';

/** Runs as rows that open them. `chosen` is null for people who may not retry. */
export function RunTable(props: {
  rows: readonly ShownRun[];
  chosen: ReadonlySet<string> | null;
  onChosen: (chosen: ReadonlySet<string>) => void;
}) {
  const { rows, chosen } = props;
  const now = useNow(rows.some(({ run }) => isOpenRun(run)));
  const choose = (id: string, on: boolean) => {
    const next = new Set(chosen);
    if (on) next.add(id);
    else next.delete(id);
    props.onChosen(next);
  };
  return (
    <div class="run-table">
      <Table
        caption="Runs"
        columns={[
          ...(chosen === null
            ? []
            : [<ChooseAll key="chosen" rows={rows} chosen={chosen} onChosen={props.onChosen} />]),
          'State',
          'Node',
          'Session',
          figureColumn('Attempt'),
          'Runner',
          figureColumn('Took'),
          'Created',
        ]}
      >
        {rows.map((row) => (
          <RunRow
            key={row.run.id}
            {...row}
            now={now}
            isChosen={chosen?.has(row.run.id) ?? null}
            choose={(on) => choose(row.run.id, on)}
          />
        ))}
      </Table>
    </div>
  );
}

function ChooseAll(props: {
  rows: readonly ShownRun[];
  chosen: ReadonlySet<string>;
  onChosen: (chosen: ReadonlySet<string>) => void;
}) {
  const retryable = props.rows.filter(({ run }) => run.retryable).map(({ run }) => run.id);
  const hasAll = retryable.length > 0 && retryable.every((id) => props.chosen.has(id));
  return (
    <th scope="col">
      <input
        type="checkbox"
        aria-label="Choose all that can be retried"
        disabled={retryable.length === 0}
        checked={hasAll}
        onChange={() => props.onChosen(new Set(hasAll ? [] : retryable))}
      />
    </th>
  );
}

function RunRow(props: {
  run: NodeRun;
  isGone: boolean;
  now: number;
  /** Null for people who may not retry. */
  isChosen: boolean | null;
  choose: (on: boolean) => void;
}) {
  const { run, isGone, isChosen } = props;
  return (
    <tr class={isGone ? 'run-gone' : ''} title={isGone ? 'No longer in this list' : undefined}>
      {isChosen !== null && (
        <td class="run-choice">
          {run.retryable && (
            <input
              type="checkbox"
              aria-label={`Choose the run of ${titleOf(run.nodeName)} in ${run.sessionName}`}
              checked={isChosen}
              onChange={(event) => props.choose(event.currentTarget.checked)}
            />
          )}
        </td>
      )}
      <RunCells run={run} now={props.now} />
    </tr>
  );
}

/** The instance and its version, on hover: most rows of a list have the same. */
const titleOfRunner = (runner: NodeRun['attempts'][number]['runner']) =>
  runner === null ? undefined : [runner.instanceId, runner.version].filter(Boolean).join(' · ');

function RunCells({ run, now }: { run: NodeRun; now: number }) {
  const last = run.attempts.at(-1);
  const details = run.state === 'held' ? progressWords(run, now) : run.statusDetails;
  return (
    <>
      <td>
        <RunBadge state={run.state} />
      </td>
      <td>
        <a class="row-link" href={`/runs/${run.id}`}>
          {titleOf(run.nodeName)}
        </a>{' '}
        <span class="faint" title={run.nodeTemplate}>
          {templateTitle(run.nodeName, run.nodeTemplate)}
        </span>
        {details !== null && details !== '' && <div class="faint clamp">{withoutCategory(details)}</div>}
      </td>
      <td data-label="Session" class="wrap-anywhere">
        {run.sessionName}
      </td>
      <td data-label="Attempt" class="nowrap figure">
        {run.attempt} of {run.maxAttempts}
      </td>
      <td data-label="Runner" class="wrap-anywhere" title={titleOfRunner(last?.runner ?? null)}>
        {last?.runner == null ? '' : runnerTitle(last.runner.instanceId, last.runner.name)}
      </td>
      <td data-label="Took" class="nowrap figure">
        {elapsedOf(run, now)}
      </td>
      <td data-label="Created" class="nowrap">
        <Ago at={run.createdAt} />
      </td>
    </>
  );
}
