import { useState } from 'preact/hooks';
import type { Project } from '../admin-api.ts';
import { changeProject, createProject, listProjects, listTemplates } from '../admin-api.ts';
import { plural } from '../format.ts';
import { useResource, useTitle } from '../hooks.ts';
import { titleOf } from '../names.ts';
import { PriorityField } from '../session/priority-form.tsx';
import { Ago } from '../ui/ago.tsx';
import { AddButton, RowButton } from '../ui/buttons.tsx';
import { changedFields } from '../ui/changed-fields.ts';
import { AreaField, CheckField, FormDialog, SelectField, TextField } from '../ui/form.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Empty } from '../ui/notice.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { useAddressSearch } from '../ui/search-text.ts';
import { Table } from '../ui/table.tsx';

interface Template {
  readonly id: number;
  readonly name: string;
}

/** The projects, each with a link to its sessions. */
export function ProjectsPage() {
  useTitle('Projects');
  const list = useResource('projects', listProjects);
  const templates = useResource('templates', listTemplates);
  const [edited, setEdited] = useState<Project | 'new' | null>(null);
  const { wanted, text, setText } = useAddressSearch();
  const nameOf = (id: number | null) =>
    id === null ? null : (templates.data?.find((template) => template.id === id)?.name ?? null);
  return (
    <div class="page">
      <div class="page-head">
        <h1>Projects</h1>
        <div class="actions">
          <SearchField label="Search by title or description" value={text} onValue={setText} />
          <AddButton onClick={() => setEdited('new')}>New project</AddButton>
        </div>
      </div>
      <Loaded of={list} failure="The projects could not be listed." rows={4} label="Loading projects">
        {(projects) => (
          <ProjectTable
            projects={projects}
            wanted={wanted}
            busy={list.loading}
            nameOf={nameOf}
            onEdit={setEdited}
          />
        )}
      </Loaded>
      {edited !== null && (
        <ProjectForm
          project={edited === 'new' ? null : edited}
          templates={templates.data ?? []}
          saved={list.reload}
          onClose={() => setEdited(null)}
        />
      )}
    </div>
  );
}

function ProjectTable(props: {
  projects: readonly Project[];
  /** Text of the title or description. */
  wanted: string;
  busy: boolean;
  nameOf: (templateId: number | null) => string | null;
  onEdit: (project: Project) => void;
}) {
  const { projects, wanted } = props;
  const found = projects.filter((project) => isWanted(project, wanted));
  if (projects.length === 0)
    return (
      <Empty title="No projects yet">
        <p>Every session belongs to a project.</p>
      </Empty>
    );
  if (found.length === 0) return <Empty title={`No project matches “${wanted}”`} />;
  return (
    <Table
      caption="Projects"
      columns={['Project', 'Default template', 'Uploads', 'Data kept', 'Created']}
      actions
      busy={props.busy}
    >
      {found.map((project) => (
        <ProjectRow
          key={project.id}
          project={project}
          template={props.nameOf(project.defaultSessionTemplateId)}
          onEdit={() => props.onEdit(project)}
        />
      ))}
    </Table>
  );
}

function isWanted({ title, description }: Project, text: string): boolean {
  return `${title}\n${description}`.toLowerCase().includes(text.toLowerCase());
}

function ProjectRow(props: { project: Project; template: string | null; onEdit: () => void }) {
  const { project } = props;
  return (
    <tr>
      <td class="wrap-anywhere">
        <a class="strong-link" href={`/project-list/${project.id}`}>
          {project.title}
        </a>
        {project.description !== '' && <div class="faint clamp">{project.description}</div>}
      </td>
      <td data-label="Default template" class="wrap-anywhere">
        {props.template === null ? <span class="faint">none</span> : titleOf(props.template)}
      </td>
      <td data-label="Uploads">{project.queuedIngestion ? 'in order' : 'at once'}</td>
      <td data-label="Data kept" class="nowrap">
        {project.retentionDays === null ? 'forever' : plural(project.retentionDays, 'day', 'days')}
      </td>
      <td data-label="Created" class="nowrap">
        <Ago at={project.createdAt} />
      </td>
      <td class="table-actions">
        <RowButton label={`Edit ${project.title}`} onClick={props.onEdit}>
          Edit
        </RowButton>
      </td>
    </tr>
  );
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

function ProjectForm(props: {
  project: Project | null;
  templates: readonly Template[];
  saved: () => void;
  onClose: () => void;
}) {
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
      <TextField label="Title" required value={fields.title} onValue={(title) => set({ title })} />
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
