import { useState } from 'preact/hooks';
import { changeProject, createProject, type Project } from '../admin-api.ts';
import { titleOf } from '../names.ts';
import { PriorityField } from '../session/dialogs/priority-form.tsx';
import { changedFields } from '../ui/changed-fields.ts';
import { AreaField, CheckField, FormDialog, SelectField, TextField } from '../ui/form.tsx';

interface Template {
  readonly id: number;
  readonly name: string;
}

function fieldsOf(project: Project | null) {
  return {
    title: project?.title ?? '',
    description: project?.description ?? '',
    template: String(project?.defaultSessionTemplateId ?? ''),
    queued: project?.queuedIngestion ?? false,
    pinned: project?.pinnedMetadata.join(', ') ?? '',
    priority: String(project?.priority ?? 0),
    days: String(project?.retentionDays ?? ''),
  };
}

const requestOf = (fields: ReturnType<typeof fieldsOf>) => ({
  Title: fields.title.trim(),
  Description: fields.description,
  DefaultSessionTemplateId: fields.template === '' ? null : Number(fields.template),
  QueuedIngestion: fields.queued,
  RetentionDays: fields.days.trim() === '' ? null : Number(fields.days),
  Priority: Number(fields.priority),
  PinnedMetadata: fields.pinned
    .split(',')
    .map((path) => path.trim())
    .filter((path) => path !== ''),
});

interface Props {
  project: Project | null;
  /** All of them. */
  projects: readonly Project[];
  templates: readonly Template[];
  saved: () => void;
  onClose: () => void;
}

/** A new project, or another form of one. */
export function ProjectForm(props: Props) {
  const { project } = props;
  const [fields, setFields] = useState(() => fieldsOf(project));
  const set = (part: Partial<typeof fields>) => setFields((before) => ({ ...before, ...part }));
  const save = async () => {
    if (project === null) await createProject(requestOf(fields));
    else await changeProject(project.id, changedFields(requestOf(fieldsOf(project)), requestOf(fields)));
    props.saved();
    props.onClose();
  };
  return (
    <FormDialog
      title={project === null ? 'New project' : 'Edit project'}
      verb={project === null ? 'Create project' : 'Save'}
      save={save}
      onClose={props.onClose}
    >
      <TitleField
        others={props.projects.filter(({ id }) => id !== project?.id)}
        value={fields.title}
        onValue={(title) => set({ title })}
      />
      <AreaField
        label="Description"
        rows={3}
        value={fields.description}
        onValue={(description) => set({ description })}
      />
      <DefaultTemplateField
        templates={props.templates}
        value={fields.template}
        onValue={(template) => set({ template })}
      />
      <TextField
        label="Metadata in the list of sessions"
        hint="Names with commas between, for example driver, track.name. At most 8."
        value={fields.pinned}
        onValue={(pinned) => set({ pinned })}
      />
      <RetentionField value={fields.days} onValue={(days) => set({ days })} />
      <PriorityField value={fields.priority} onValue={(priority) => set({ priority })} />
      <CheckField
        label="Process uploads strictly in order of arrival"
        checked={fields.queued}
        onChecked={(queued) => set({ queued })}
      />
    </FormDialog>
  );
}

const plainTitle = (title: string) => title.trim().toLowerCase();

function TitleField(props: { others: readonly Project[]; value: string; onValue: (value: string) => void }) {
  const isTaken = props.others.some(({ title }) => plainTitle(title) === plainTitle(props.value));
  return (
    <TextField
      label="Title"
      hint={isTaken ? 'Another project has this title.' : undefined}
      required
      value={props.value}
      onValue={props.onValue}
    />
  );
}

function DefaultTemplateField(props: {
  templates: readonly Template[];
  value: string;
  onValue: (value: string) => void;
}) {
  return (
    <SelectField
      label="Default template"
      value={props.value}
      options={[
        { value: '', label: 'none' },
        ...props.templates.map(({ id, name }) => ({ value: String(id), label: titleOf(name) })),
      ]}
      onValue={props.onValue}
    />
  );
}

function RetentionField(props: { value: string; onValue: (value: string) => void }) {
  return (
    <TextField
      label="Keep data for days"
      hint="Leave empty to keep forever. Older sessions are deleted with all their data."
      type="number"
      min={1}
      max={36_500}
      value={props.value}
      onValue={props.onValue}
    />
  );
}
