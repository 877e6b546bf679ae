import { useState } from 'preact/hooks';
import type { Project } from '../api.ts';
import { useAction } from '../hooks.ts';
import { changedFields } from '../ui/changed-fields.ts';
import { Dialog } from '../ui/dialog.tsx';
import { CheckField, Form, SelectField, TextField } from '../ui/form.tsx';
import { changeSchedule, createSchedule, type ReportSchedule } from './schedule-api.ts';
import { capital, weekdays } from './schedule-words.ts';

const zoneOfMachine = () => new Intl.DateTimeFormat().resolvedOptions().timeZone;
const days = Array.from({ length: 31 }, (_, index) => String(index + 1));

function fieldsOf(schedule: ReportSchedule | null, reportKey: string) {
  return {
    reportKey: schedule?.reportKey ?? reportKey,
    projectId: schedule?.projectId ?? null,
    format: schedule?.format ?? ('xlsx' as const),
    every: schedule?.every ?? ('week' as const),
    at: schedule?.at ?? '06:00',
    weekday: schedule?.weekday ?? ('monday' as const),
    dayOfMonth: schedule?.dayOfMonth ?? 1,
    timeZone: schedule?.timeZone ?? zoneOfMachine(),
    periodDays: schedule?.periodDays ?? null,
    keptFiles: schedule?.keptFiles ?? 10,
    enabled: schedule?.enabled ?? true,
  };
}

/** Makes or changes a schedule. */
export function ScheduleForm(props: {
  schedule: ReportSchedule | null;
  reports: readonly { key: string; name: string }[];
  projects: readonly Project[];
  saved: () => void;
  onClose: () => void;
}) {
  const { schedule, reports, projects } = props;
  const action = useAction();
  const [fields, setFields] = useState(() => fieldsOf(schedule, reports[0]?.key ?? ''));
  const set = (part: Partial<typeof fields>) => setFields((before) => ({ ...before, ...part }));
  const save = async () => {
    if (schedule === null) await createSchedule(fields);
    else await changeSchedule(schedule.id, changedFields(fieldsOf(schedule, ''), fields));
    props.saved();
    props.onClose();
  };
  return (
    <Dialog title={schedule === null ? 'Schedule a report' : 'Edit schedule'} onClose={props.onClose}>
      <Form
        action={action}
        verb={schedule === null ? 'Create schedule' : 'Save'}
        names={{ timeZone: 'Time zone' }}
        onSubmit={() => void action.run(save)}
        onCancel={props.onClose}
      >
        <Contents fields={fields} set={set} reports={reports} projects={projects} />
        <Times fields={fields} set={set} />
        <Limits fields={fields} set={set} />
        <CheckField label="Enabled" checked={fields.enabled} onChecked={(enabled) => set({ enabled })} />
        <p class="faint">Kept files name people by their ids. A download from the list above names them.</p>
      </Form>
    </Dialog>
  );
}

type Fields = ReturnType<typeof fieldsOf>;

interface Editing {
  fields: Fields;
  set: (part: Partial<Fields>) => void;
}

/** The report, the project whose sessions it covers, and the format of its files. */
function Contents(
  props: { reports: readonly { key: string; name: string }[]; projects: readonly Project[] } & Editing,
) {
  const { reports, projects, fields, set } = props;
  return (
    <div class="fields">
      <SelectField
        label="Report"
        value={fields.reportKey}
        options={reports.map(({ key, name }) => ({ value: key, label: name }))}
        onValue={(reportKey) => set({ reportKey })}
      />
      <SelectField
        label="Project"
        value={fields.projectId === null ? '' : String(fields.projectId)}
        options={[
          { value: '', label: 'Every project' },
          ...projects.map(({ id, title }) => ({ value: String(id), label: title })),
        ]}
        onValue={(id) => set({ projectId: id === '' ? null : Number(id) })}
      />
      <SelectField
        label="Format"
        value={fields.format}
        options={[
          { value: 'xlsx', label: 'xlsx' },
          { value: 'csv', label: 'csv' },
        ]}
        onValue={(format) => set({ format })}
      />
    </div>
  );
}

/** When it is written. */
function Times({ fields, set }: Editing) {
  return (
    <div class="fields">
      <SelectField
        label="Every"
        value={fields.every}
        options={(['hour', 'day', 'week', 'month'] as const).map((value) => ({
          value,
          label: capital(value),
        }))}
        onValue={(every) => set({ every })}
      />
      {fields.every === 'week' && (
        <SelectField
          label="Day"
          value={fields.weekday}
          options={weekdays.map((value) => ({ value, label: capital(value) }))}
          onValue={(weekday) => set({ weekday })}
        />
      )}
      {fields.every === 'month' && (
        <SelectField
          label="Day of the month"
          value={String(fields.dayOfMonth)}
          options={days.map((value) => ({ value, label: value }))}
          onValue={(day) => set({ dayOfMonth: Number(day) })}
        />
      )}
      <TextField
        label="Time"
        {...(fields.every === 'hour' ? { hint: 'Only the minutes count.' } : {})}
        type="time"
        required
        value={fields.at}
        onValue={(at) => set({ at })}
      />
      <TextField
        label="Time zone"
        hint="Such as Europe/Berlin or UTC."
        required
        value={fields.timeZone}
        onValue={(timeZone) => set({ timeZone })}
      />
    </div>
  );
}

/** How far back it goes, and how many of its files stay. */
function Limits({ fields, set }: Editing) {
  return (
    <div class="fields">
      <TextField
        label="Only the last days"
        hint="Leave empty for all sessions."
        type="number"
        min={1}
        max={3650}
        value={fields.periodDays === null ? '' : String(fields.periodDays)}
        onValue={(text) => set({ periodDays: text === '' ? null : Number(text) })}
      />
      <TextField
        label="Files kept"
        hint="The newest ones."
        type="number"
        required
        min={1}
        max={100}
        // An empty field counts as 0, which is never sent.
        value={fields.keptFiles === 0 ? '' : String(fields.keptFiles)}
        onValue={(text) => set({ keptFiles: Number(text) })}
      />
    </div>
  );
}
