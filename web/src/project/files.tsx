import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ListedOutput, SessionListRow } from '../api.ts';
import { formatBytes, formatCount } from '../format.ts';
import { type Action, useAction, useEvery, useResource } from '../hooks.ts';
import { outputTitle } from '../names.ts';
import { listProjectReportFiles, openReportFile, type ReportFile } from '../reports/schedule-api.ts';
import { useAbilities } from '../role.ts';
import { attachmentName, saveAnswer } from '../save.ts';
import { saveOutput } from '../session/output-parts.tsx';
import { newestOutputs } from '../session/session-outputs.tsx';
import { Ago } from '../ui/ago.tsx';
import { DownloadButton } from '../ui/download-button.tsx';
import { Failure, Notice, Placeholder } from '../ui/notice.tsx';
import { figureColumn, Table } from '../ui/table.tsx';

const newestSessions = 4;
const maxOutputs = 12;
const refreshMs = 10_000;

/** Reports of a project that were kept, and the newest files of its sessions. */
export function ProjectFiles({
  projectId,
  sessions,
}: {
  projectId: number;
  sessions: readonly SessionListRow[];
}) {
  const { readReports } = useAbilities();
  const [isOpen, setIsOpen] = useState(false);
  return (
    <section class="section project-files" aria-label="Files of the project">
      <h2>Files</h2>
      {readReports && <Reports projectId={projectId} />}
      <details onToggle={(event) => setIsOpen(event.currentTarget.open)}>
        <summary>Newest files of its sessions</summary>
        {isOpen && <Outputs sessions={sessions} />}
      </details>
    </section>
  );
}

function Reports({ projectId }: { projectId: number }) {
  const list = useResource(
    `project-reports ${projectId}`,
    (signal) => listProjectReportFiles(projectId, signal),
    { keepWhileLoading: true },
  );
  useEvery(refreshMs, list.data !== null, list.reload);
  const ready = (list.data?.files ?? []).filter(({ state }) => state === 'ready');
  if (list.error !== null)
    return <Failure what="The reports could not be listed." error={list.error} retry={list.reload} />;
  if (list.data === null) return <Placeholder rows={2} label="Loading the reports" />;
  if (ready.length === 0) {
    return (
      <p class="faint">
        No reports of this project are kept yet. <a href="/reports">Reports</a> are scheduled there.
      </p>
    );
  }
  return (
    <Table
      caption="Reports of the project"
      columns={['Report', figureColumn('Rows'), figureColumn('Size'), 'Created']}
      actions
    >
      {ready.map((file) => (
        <FileRow
          key={file.id}
          name={reportName(file)}
          about={
            <td data-label="Rows" class="nowrap figure">
              {formatCount(file.rows ?? 0)}
            </td>
          }
          bytes={file.sizeBytes}
          at={file.endedAt ?? file.dueAt}
          save={async () => saveAnswer(await openReportFile(file.id), attachmentName)}
        />
      ))}
    </Table>
  );
}

const reportName = ({ fileName, reportName: name, format }: ReportFile) => fileName ?? `${name}.${format}`;

interface Found {
  readonly session: SessionListRow;
  readonly output: ListedOutput;
}

function Outputs({ sessions }: { sessions: readonly SessionListRow[] }) {
  const active = [...sessions]
    .filter(({ outputBytes }) => outputBytes > 0)
    .sort((a, b) => b.lastActivityAt.localeCompare(a.lastActivityAt))
    .slice(0, newestSessions);
  const found = useResource(
    active.map(({ id, lastActivityAt }) => `${id} ${lastActivityAt}`).join(),
    async (signal) => {
      const lists = await Promise.all(active.map((session) => outputsOf(session, signal)));
      const all = lists.flat();
      all.sort((a, b) => b.output.createdAt.localeCompare(a.output.createdAt));
      return all.slice(0, maxOutputs);
    },
    { keepWhileLoading: true },
  );
  if (found.error !== null)
    return <Failure what="The files could not be listed." error={found.error} retry={found.reload} />;
  if (found.data === null) return <Placeholder rows={3} label="Loading the files" />;
  if (found.data.length === 0) return <p class="faint">No session has a file yet.</p>;
  return (
    <Table
      caption="Newest files of the sessions"
      columns={['File', 'Session', figureColumn('Size'), 'Created']}
      actions
    >
      {found.data.map(({ session, output }) => (
        <FileRow
          key={output.id}
          name={outputTitle(output)}
          about={
            <td data-label="Session" class="wrap-anywhere">
              <a href={`/sessions/${session.id}`}>{session.name}</a>
            </td>
          }
          bytes={output.sizeBytes}
          at={output.createdAt}
          save={(action) => saveOutput(output, action)}
        />
      ))}
    </Table>
  );
}

async function outputsOf(session: SessionListRow, signal: AbortSignal): Promise<Found[]> {
  const { outputs } = await newestOutputs(session.id, maxOutputs, {}, signal);
  return outputs.map((output) => ({ session, output }));
}

function FileRow(props: {
  name: string;
  /** A cell of its own. */
  about: ComponentChildren;
  bytes: number | null;
  at: string;
  save: (action: Action) => Promise<void>;
}) {
  const { name } = props;
  const action = useAction();
  return (
    <tr>
      <td class="wrap-anywhere">
        {name}
        {action.problem !== null && <Notice tone="error">{action.problem}</Notice>}
      </td>
      {props.about}
      <td data-label="Size" class="nowrap figure">
        {props.bytes === null ? '' : formatBytes(props.bytes)}
      </td>
      <td data-label="Created" class="nowrap">
        <Ago at={props.at} />
      </td>
      <td class="table-actions">
        <DownloadButton name={name} action={action} save={() => props.save(action)} />
      </td>
    </tr>
  );
}
