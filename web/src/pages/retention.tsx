import { useState } from 'preact/hooks';
import { listProjects, previewRetention, type RetentionPreview, runRetention } from '../admin-api.ts';
import { formatBytes, formatCount, formatExactly, plural } from '../format.ts';
import { useEvery, useResource, useTitle } from '../hooks.ts';
import { useSessionNames } from '../sessions/session-names.ts';
import { Ago, Moment } from '../ui/ago.tsx';
import { Confirm } from '../ui/dialog.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Empty, Notice } from '../ui/notice.tsx';
import { useNamesOfPeople } from '../ui/people.ts';
import { figureColumn, Table } from '../ui/table.tsx';

const refreshMs = 5000;
const isOpen = ({ runs }: RetentionPreview) => runs.some(({ endedAt }) => endedAt === null);

/** What retention would delete now, and what it deleted last. */
export function RetentionPage() {
  useTitle('Retention');
  const preview = useResource('retention', previewRetention);
  const projects = useResource('projects', listProjects);
  const [starting, setStarting] = useState(false);
  useEvery(refreshMs, preview.data !== null && isOpen(preview.data), preview.reload);
  const limited = (projects.data ?? []).filter(({ retentionDays }) => retentionDays !== null);
  return (
    <div class="page">
      <div class="page-head">
        <h1>Retention</h1>
        <button
          type="button"
          class="button"
          aria-disabled={preview.data === null || isOpen(preview.data)}
          onClick={() => preview.data !== null && !isOpen(preview.data) && setStarting(true)}
        >
          Run now
        </button>
      </div>
      <p class="faint">
        Sessions are deleted so many days after their last activity as their project says. It runs once a day.{' '}
        {projects.data !== null && (
          <>
            {plural(limited.length, 'project has', 'projects have')} a limit.{' '}
            <a href="/project-list">Projects</a>
          </>
        )}
      </p>
      <Loaded
        of={preview}
        failure="Retention could not be read."
        rows={4}
        label="Loading what would be deleted"
      >
        {(read) => (
          <>
            <Due preview={read} />
            <Runs runs={read.runs} />
          </>
        )}
      </Loaded>
      {starting && <ConfirmRun onDone={preview.reload} onClose={() => setStarting(false)} />}
    </div>
  );
}

/** Asks with what is due now: the page may be older than the last change of a project. */
function ConfirmRun(props: { onDone: () => void; onClose: () => void }) {
  const due = useResource('retention-due', previewRetention);
  return (
    <Confirm
      title="Run retention now"
      verb="Delete"
      act={async () => {
        if (due.data === null) throw new Error('What would be deleted is not read yet.');
        await runRetention();
        props.onDone();
      }}
      onClose={props.onClose}
    >
      <Loaded of={due} failure="Retention could not be read." rows={1} label="Loading what would be deleted">
        {({ sessions, outputs, complete }) => (
          <p>
            {complete ? '' : 'More than '}
            {plural(sessions.count, 'session', 'sessions')} with {formatBytes(sessions.bytes)} and{' '}
            {plural(outputs.count, 'old output', 'old outputs')} of other sessions are deleted. This cannot be
            undone.
          </p>
        )}
      </Loaded>
    </Confirm>
  );
}

function Due({ preview }: { preview: RetentionPreview }) {
  const { sessions, outputs, complete } = preview;
  const names = useSessionNames(sessions.items.map(({ sessionId }) => sessionId));
  if (sessions.count === 0 && outputs.count === 0) return <Empty title="Nothing is due to be deleted" />;
  return (
    <>
      <Notice tone="info">
        The next run deletes {complete ? '' : 'more than '}
        {plural(sessions.count, 'session', 'sessions')} ({formatBytes(sessions.bytes)}) and{' '}
        {plural(outputs.count, 'old output', 'old outputs')} ({formatBytes(outputs.bytes)}) of sessions that
        stay. Freeze a session to keep it.
      </Notice>
      {sessions.items.length > 0 && (
        <Table
          caption="Sessions that are due"
          columns={['Session', figureColumn('Outputs'), figureColumn('Size'), 'Created']}
        >
          {sessions.items.map((one) => (
            <tr key={one.sessionId}>
              <td>
                <a
                  class="row-link"
                  href={`/sessions/${one.sessionId}`}
                  title={`${one.sessionId}\nCreated ${formatExactly(one.createdAt)}`}
                >
                  {names.get(one.sessionId) ?? one.sessionId}
                </a>
              </td>
              <td data-label="Outputs" class="figure">
                {formatCount(one.outputs)}
              </td>
              <td data-label="Size" class="nowrap figure">
                {formatBytes(one.bytes)}
              </td>
              <td data-label="Created" class="nowrap">
                <Ago at={one.createdAt} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      {sessions.items.length < sessions.count && (
        <p class="faint">
          The first {formatCount(sessions.items.length)} of {formatCount(sessions.count)} sessions.
        </p>
      )}
    </>
  );
}

function Runs({ runs }: { runs: RetentionPreview['runs'] }) {
  const names = useNamesOfPeople(runs.flatMap(({ requestedBy }) => requestedBy ?? []));
  return (
    <section class="section">
      <h2>Last runs</h2>
      {runs.length === 0 && <p class="faint">None yet.</p>}
      {runs.length > 0 && (
        <Table
          caption="Runs of retention"
          columns={[
            'Requested',
            'Requested by',
            'State',
            figureColumn('Sessions'),
            figureColumn('Outputs'),
            figureColumn('Size'),
          ]}
        >
          {runs.map((run) => (
            <tr key={run.id}>
              <td class="nowrap">
                <Moment at={run.requestedAt} />
              </td>
              <td data-label="Requested by" class="wrap-anywhere">
                {run.requestedBy === null ? 'schedule' : (names.get(run.requestedBy) ?? 'an Administrator')}
              </td>
              <td data-label="State" class="wrap-anywhere">
                {run.error ?? (run.endedAt !== null ? 'done' : run.startedAt !== null ? 'running' : 'waits')}
              </td>
              <td data-label="Sessions" class="figure">
                {formatCount(run.sessions)}
              </td>
              <td data-label="Outputs" class="figure">
                {formatCount(run.outputs)}
              </td>
              <td data-label="Size" class="nowrap figure">
                {formatBytes(run.bytes)}
              </td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}
