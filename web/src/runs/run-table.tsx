import { formatDateTime, formatExactly } from '../format.ts';
import { useNow } from '../hooks.ts';
import { runnerTitle, templateTitle, titleOf, withoutCategory } from '../names.ts';
import { Ago } from '../ui/ago.tsx';
import { figureColumn, spareColumn, Table } from '../ui/table.tsx';
import type { NodeRun } from './api.ts';
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
    <div class="session-rows run-table">
      <Table
        caption="Runs"
        columns={[
          ...(chosen === null
            ? []
            : [<ChooseAll key="chosen" rows={rows} chosen={chosen} onChosen={props.onChosen} />]),
          'State',
          'Node',
          'Session',
          spareColumn('Attempt', 'figure'),
          spareColumn('Runner'),
          figureColumn('Duration'),
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
  const retryable = props.rows.filter(({ run, isGone }) => run.retryable && !isGone).map(({ run }) => run.id);
  const hasAll = retryable.length > 0 && retryable.every((id) => props.chosen.has(id));
  return (
    <th scope="col" class="row-choice">
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
    <tr class={isGone ? 'run-gone' : ''}>
      {isChosen !== null && (
        <td class="row-choice">
          {run.retryable && (
            <input
              type="checkbox"
              aria-label={`Choose the run of ${titleOf(run.nodeName)} in ${run.sessionName}`}
              checked={isChosen}
              disabled={isGone}
              onChange={(event) => props.choose(event.currentTarget.checked)}
            />
          )}
        </td>
      )}
      <RunCells run={run} isGone={isGone} now={props.now} />
    </tr>
  );
}

/** The instance and its version, on hover: most rows of a list have the same. */
const titleOfRunner = (runner: NodeRun['attempts'][number]['runner']) =>
  runner === null ? undefined : [runner.instanceId, runner.version].filter(Boolean).join(' · ');

function RunCells({ run, isGone, now }: { run: NodeRun; isGone: boolean; now: number }) {
  const last = run.attempts.at(-1);
  const details = run.state === 'held' ? (progressWords(run, now) ?? '') : withoutCategory(run.statusDetails);
  const title = templateTitle(run.nodeName, run.nodeTemplate);
  return (
    <>
      <td class="nowrap row-state">
        <RunBadge state={run.state} />
      </td>
      <td class="row-name">
        <div class="row-line">
          <a
            class="row-link"
            href={`/runs/${run.id}`}
            title={`${run.nodeTemplate}\nCreated ${formatExactly(run.createdAt)}`}
            aria-label={`${titleOf(run.nodeName)} in ${run.sessionName}, ${formatDateTime(run.createdAt)}`}
          >
            {titleOf(run.nodeName)}
          </a>
          {isGone && <span class="tag">no longer in this list</span>}
          {title !== '' && <span class="faint">{title}</span>}
          {details !== '' && (
            <span class="faint" title={details}>
              {details}
            </span>
          )}
        </div>
      </td>
      <td data-label="Session" class="row-cut" title={run.sessionName}>
        {run.sessionName}
      </td>
      <td data-label="Attempt" class="nowrap figure row-spare">
        {run.attempt} of {run.maxAttempts}
      </td>
      <td data-label="Runner" class="row-cut row-spare" title={titleOfRunner(last?.runner ?? null)}>
        {last?.runner == null ? '' : runnerTitle(last.runner.instanceId, last.runner.name)}
      </td>
      <td data-label="Duration" class="nowrap figure">
        {elapsedOf(run, now)}
      </td>
      <td data-label="Created" class="nowrap">
        <Ago at={run.createdAt} />
      </td>
    </>
  );
}
