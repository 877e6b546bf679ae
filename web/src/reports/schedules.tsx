import { useState } from 'preact/hooks';
import type { Project, ReportCatalog } from '../api.ts';
import { listProjects } from '../api.ts';
import { formatBytes, formatDateTime, formatExactly, plural } from '../format.ts';
import { useAction, useEvery, useResource } from '../hooks.ts';
import { attachmentName, saveAnswer } from '../save.ts';
import { Moment } from '../ui/ago.tsx';
import { Confirm } from '../ui/dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Empty, Failure, Notice } from '../ui/notice.tsx';
import { Badge } from '../ui/state-badge.tsx';
import { figureColumn, Table } from '../ui/table.tsx';
import {
  deleteSchedule,
  listReportFiles,
  listSchedules,
  openReportFile,
  type ReportFile,
  type ReportSchedule,
  runSchedule,
} from './schedule-api.ts';
import { ScheduleForm } from './schedule-form.tsx';
import { nextText, whenText } from './schedule-words.ts';

const filesEveryMs = 3_000;
const listEveryMs = 10_000;

type Open = { what: 'form' | 'delete'; schedule: ReportSchedule | null } | null;

/** Reports that the platform writes by itself, with the files that it kept. */
export function Schedules(props: { reports: ReportCatalog['reports']; mayWrite: boolean }) {
  const { reports, mayWrite } = props;
  const list = useResource('report-schedules', listSchedules, { keepWhileLoading: true });
  useEvery(listEveryMs, list.data !== null, list.reload);
  const projects = useResource('report-projects', listProjects);
  const [open, setOpen] = useState<Open>(null);
  const close = () => setOpen(null);
  return (
    <section class="page" aria-label="Schedules">
      <div class="part-head">
        <h2>Schedules</h2>
        {mayWrite && (
          <button
            type="button"
            class="button button-small"
            disabled={projects.data === null || reports.length === 0}
            onClick={() => setOpen({ what: 'form', schedule: null })}
          >
            <Icon name="clock" />
            Schedule a report
          </button>
        )}
      </div>
      <Loaded of={list} failure="The schedules could not be listed." rows={2} label="Loading schedules">
        {(schedules) => (
          <ScheduleList
            schedules={schedules}
            reports={reports}
            projects={projects.data}
            onOpen={mayWrite ? setOpen : null}
          />
        )}
      </Loaded>
      {open?.what === 'form' && projects.data !== null && (
        <ScheduleForm
          schedule={open.schedule}
          reports={reports}
          projects={projects.data}
          saved={list.reload}
          onClose={close}
        />
      )}
      {open?.what === 'delete' && open.schedule !== null && (
        <DeleteSchedule schedule={open.schedule} deleted={list.reload} onClose={close} />
      )}
    </section>
  );
}

function ScheduleList(props: {
  schedules: readonly ReportSchedule[];
  reports: ReportCatalog['reports'];
  projects: readonly Project[] | null;
  onOpen: ((open: Open) => void) | null;
}) {
  const { schedules, reports } = props;
  if (schedules.length === 0) {
    return (
      <Empty title="No schedules yet">
        <p>A scheduled report is written by itself, kept here and announced to webhooks.</p>
      </Empty>
    );
  }
  return (
    <ul class="cards">
      {schedules.map((schedule) => (
        <ScheduleCard
          key={schedule.id}
          schedule={schedule}
          name={reports.find(({ key }) => key === schedule.reportKey)?.name ?? schedule.reportKey}
          project={projectName(schedule, props.projects)}
          onOpen={props.onOpen}
        />
      ))}
    </ul>
  );
}

function DeleteSchedule(props: { schedule: ReportSchedule; deleted: () => void; onClose: () => void }) {
  return (
    <Confirm
      title="Delete the schedule?"
      verb="Delete"
      act={async () => {
        await deleteSchedule(props.schedule.id);
        props.deleted();
      }}
      onClose={props.onClose}
    >
      Its files are deleted too. The report itself stays.
    </Confirm>
  );
}

function projectName({ projectId }: ReportSchedule, projects: readonly Project[] | null): string {
  if (projectId === null) return 'every project';
  return projects?.find(({ id }) => id === projectId)?.title ?? `project ${projectId}`;
}

function NextTime({ schedule: { nextAt, timeZone } }: { schedule: ReportSchedule }) {
  if (nextAt === null) return <>disabled</>;
  return (
    <>
      next{' '}
      <time dateTime={nextAt} title={formatExactly(nextAt)}>
        {nextText(nextAt, timeZone)}
      </time>
    </>
  );
}

function ScheduleCard(props: {
  schedule: ReportSchedule;
  name: string;
  project: string;
  /** Null for people who may not change it. */
  onOpen: ((open: Open) => void) | null;
}) {
  const { schedule, name, onOpen } = props;
  const action = useAction();
  const [isOpen, setIsOpen] = useState(false);
  const run = async () => {
    await runSchedule(schedule.id);
    setIsOpen(true);
  };
  const button = (verb: string, act: () => void) => (
    <button type="button" class="button button-small" aria-label={`${verb}: ${name}`} onClick={act}>
      {verb}
    </button>
  );
  return (
    <li class="card">
      <div class="card-head">
        <div>
          <h3>{name}</h3>
          <p class="faint">
            {whenText(schedule)} · {props.project} · {schedule.format}
            {schedule.periodDays !== null && ` · last ${plural(schedule.periodDays, 'day', 'days')}`} ·{' '}
            <NextTime schedule={schedule} />
          </p>
        </div>
        {onOpen !== null && (
          <div class="actions">
            {button('Run now', () => void action.run(run))}
            {button('Edit', () => onOpen({ what: 'form', schedule }))}
            {button('Delete', () => onOpen({ what: 'delete', schedule }))}
          </div>
        )}
      </div>
      {action.problem !== null && <Notice tone="error">{action.problem}</Notice>}
      <details open={isOpen} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
        <summary>Files</summary>
        {isOpen && <Files schedule={schedule} name={name} />}
      </details>
    </li>
  );
}

function Files({ schedule, name }: { schedule: ReportSchedule; name: string }) {
  const list = useResource(`report-files ${schedule.id}`, (signal) => listReportFiles(schedule.id, signal), {
    keepWhileLoading: true,
  });
  useEvery(filesEveryMs, list.data !== null, list.reload);
  const action = useAction();
  const files = list.data?.files ?? [];
  const save = (file: ReportFile) =>
    void action.run(async () => saveAnswer(await openReportFile(file.id), attachmentName));
  return (
    <>
      {list.error !== null && (
        <Failure what="The files could not be listed." error={list.error} retry={list.reload} />
      )}
      {action.problem !== null && <Notice tone="error">{action.problem}</Notice>}
      {list.data !== null && files.length === 0 && <p class="faint">No files yet.</p>}
      {files.length > 0 && (
        <Table
          caption={`Files of ${name}`}
          columns={['Due', 'State', figureColumn('Rows'), figureColumn('Size')]}
          actions
        >
          {files.map((file) => (
            <FileRow key={file.id} file={file} onSave={() => save(file)} />
          ))}
        </Table>
      )}
    </>
  );
}

const states = {
  running: { icon: 'spinner', tone: 'working', label: 'Being written' },
  ready: { icon: 'check', tone: 'done', label: 'Ready' },
  failed: { icon: 'cross', tone: 'failed', label: 'Failed' },
} as const;

function FileRow({ file, onSave }: { file: ReportFile; onSave: () => void }) {
  const due = formatDateTime(file.dueAt);
  return (
    <tr>
      <td class="nowrap">
        <Moment at={file.dueAt} />
      </td>
      <td data-label="State">
        <Badge {...states[file.state]} /> {file.error !== null && <span class="faint">{file.error}</span>}
      </td>
      <td data-label="Rows" class="figure">
        {file.rows ?? ''}
      </td>
      <td data-label="Size" class="figure">
        {file.sizeBytes === null ? '' : formatBytes(file.sizeBytes)}
      </td>
      <td class="table-actions">
        {file.state === 'ready' && (
          <button
            type="button"
            class="button button-small"
            aria-label={`Download the file of ${due}`}
            onClick={onSave}
          >
            Download
          </button>
        )}
      </td>
    </tr>
  );
}
