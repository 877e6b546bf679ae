import { useState } from 'preact/hooks';
import { listQueues, type Queue } from '../admin-api.ts';
import { formatCount, formatDuration, plural } from '../format.ts';
import { useEvery, useResource } from '../hooks.ts';
import { titleOf } from '../names.ts';
import { RowButton } from '../ui/buttons.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Empty, Notice } from '../ui/notice.tsx';
import { figureColumn, Table } from '../ui/table.tsx';
import { LimitForm } from './limit-form.tsx';

const everyMs = 5_000;
/** The table shows all. */
const maxNotices = 5;

/** What waits for runners: node templates that have work, a runner, or a recent past. */
export function Queues() {
  const list = useResource('queues', listQueues, { keepWhileLoading: true });
  useEvery(everyMs, list.data !== null, list.reload);
  const [limited, setLimited] = useState<Queue | null>(null);
  const queues = list.data?.queues.filter(isLive) ?? [];
  return (
    <section class="page" aria-label="Queues">
      <div class="part-head">
        <h2>Queues</h2>
        {list.data !== null && <span class="faint">{summaryOf(queues)}</span>}
      </div>
      <Loaded of={list} failure="The queues could not be listed." rows={2} label="Loading queues">
        {() => (
          <>
            {queues
              .filter(isUnserved)
              .slice(0, maxNotices)
              .map((queue) => (
                <Unserved key={queue.nodeTemplate} queue={queue} />
              ))}
            {queues.length === 0 && (
              <Empty title="Nothing waits">
                <p>No node template has waiting tasks, runners, or runs of the last hour.</p>
              </Empty>
            )}
            {queues.length > 0 && <QueueTable queues={queues} onLimit={setLimited} />}
          </>
        )}
      </Loaded>
      {limited !== null && <LimitForm queue={limited} saved={list.reload} onClose={() => setLimited(null)} />}
    </section>
  );
}

function QueueTable(props: { queues: readonly Queue[]; onLimit: (queue: Queue) => void }) {
  return (
    <Table
      caption="Queues of node templates"
      columns={[
        'Node template',
        figureColumn('Waiting'),
        figureColumn('Longest wait'),
        'Running',
        'Runners',
        'Attempts, last hour',
      ]}
      actions
    >
      {props.queues.map((queue) => (
        <QueueRow key={queue.nodeTemplate} queue={queue} onLimit={() => props.onLimit(queue)} />
      ))}
    </Table>
  );
}

/** Whether tasks wait and no runner can claim them. The platform itself runs built-in nodes. */
const isUnserved = ({ runtime, waiting, runners }: Queue) =>
  runtime !== 'system' && waiting > 0 && runners.waiting + runners.busy === 0;

const isLive = ({ waiting, held, runners, lastHour }: Queue) =>
  waiting + held + runners.waiting + runners.busy + runners.drained + lastHour.completed + lastHour.failed >
  0;

/** Says that tasks wait for which there is no runner, and what helps. Counts and times are in the table: they change all the time. */
function Unserved({ queue: { runnerType, runtime, nodeTemplate, runners } }: { queue: Queue }) {
  return (
    <Notice tone="error">
      <strong>No runner takes the tasks of {titleOf(nodeTemplate)}.</strong> They wait for one of type{' '}
      {runnerType}. {remedyOf(runtime, runners)}
    </Notice>
  );
}

function remedyOf(runtime: Queue['runtime'], { drained, gone }: Queue['runners']): string {
  if (drained > 0)
    return `${plural(drained, 'is', 'are')} drained: resume ${drained === 1 ? 'it' : 'them'} below.`;
  const last = gone > 0 ? `${plural(gone, 'was there and is', 'were there and are')} gone. ` : '';
  return runtime === 'sdk'
    ? `${last}The platform starts it: see Deployed runners below, and the log of their host.`
    : `${last}Start one, or connect a new one: what waits then goes on by itself.`;
}

function summaryOf(queues: readonly Queue[]): string {
  const waiting = queues.reduce((sum, queue) => sum + queue.waiting, 0);
  const unserved = queues.filter(isUnserved).length;
  const waits = waiting === 0 ? 'No task waits' : `${plural(waiting, 'task waits', 'tasks wait')}`;
  return unserved === 0 ? waits : `${waits}, ${plural(unserved, 'queue has', 'queues have')} no runner`;
}

function QueueRow({ queue, onLimit }: { queue: Queue; onLimit: () => void }) {
  const { waiting, oldestWaitSeconds, held, lastHour } = queue;
  const { completed, failed } = lastHour;
  return (
    <tr>
      <td class="wrap-anywhere">
        <strong title={queue.nodeTemplate}>{titleOf(queue.nodeTemplate)}</strong>
        <div class="faint">{queue.runtime === 'system' ? 'built in' : queue.runnerType}</div>
      </td>
      <td data-label="Waiting" class="figure">
        {formatCount(waiting)}
      </td>
      <td data-label="Longest wait" class="nowrap figure">
        {oldestWaitSeconds === null ? '–' : formatDuration(oldestWaitSeconds * 1_000)}
      </td>
      <td data-label="Running">
        {formatCount(held)}
        {limitsOf(queue).map((text) => (
          <div key={text} class="faint">
            {text}
          </div>
        ))}
      </td>
      <td data-label="Runners">{runnersOf(queue)}</td>
      <td data-label="Attempts, last hour" class="nowrap">
        {completed + failed === 0 ? '–' : `${formatCount(completed)} done`}
        {failed > 0 && <span class="tag state-failed">{formatCount(failed)} failed</span>}
      </td>
      <td class="table-actions">
        {queue.runtime !== 'system' && (
          <RowButton
            label={`Limit ${queue.nodeTemplate}`}
            title="How many of its tasks run at once at most"
            onClick={onLimit}
          >
            Limit
          </RowButton>
        )}
      </td>
    </tr>
  );
}

/** What each limit allows, and how much of it is used where the limit counts more than this queue. */
function limitsOf({ limits }: Queue): string[] {
  return limits.map(({ kind, max, perProject, perSession, held }) => {
    const parts = [
      max !== null && (kind === 'runnerType' ? `${held} of ${max} of the type` : `of at most ${max}`),
      perProject !== null && `${perProject} a project`,
      perSession !== null && `${perSession} a session`,
    ];
    return parts.filter((part) => part !== false).join(', ');
  });
}

function runnersOf(queue: Queue) {
  if (queue.runtime === 'system') return 'the platform';
  const { runners } = queue;
  if (isUnserved(queue))
    return (
      <span class="tag tag-alone state-failed">
        {runners.drained > 0 ? 'All drained' : runners.gone > 0 ? `None, ${runners.gone} gone` : 'None'}
      </span>
    );
  const parts = [
    runners.busy > 0 && `${runners.busy} busy`,
    runners.waiting > 0 && `${runners.waiting} waiting`,
    runners.drained > 0 && `${runners.drained} drained`,
  ].filter((part) => part !== false);
  return parts.length === 0 ? 'None' : parts.join(', ');
}
