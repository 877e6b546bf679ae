import { useState } from 'preact/hooks';
import type { Project } from '../admin-api.ts';
import { listProjects, listTemplates, saveProject } from '../admin-api.ts';
import { plural } from '../format.ts';
import { useAction, useResource, useTitle } from '../hooks.ts';
import { titleOf } from '../names.ts';
import { PriorityField } from '../session/priority-form.tsx';
import { Ago } from '../ui/ago.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { AreaField, CheckField, Form, SelectField, TextField } from '../ui/form.tsx';
import { Icon } from '../ui/icon.tsx';
import { Empty, Failure, Placeholder } from '../ui/notice.tsx';
import { Table } from '../ui/table.tsx';

/** The projects, each with a link to its sessions. */
export function ProjectsPage() {
  useTitle('Projects');
  const list = useResource('projects', listProjects);
  const templates = useResource('templates', listTemplates);
  const [edited, setEdited] = useState<Project | 'new' | null>(null);
  const nameOf = (id: number | null) =>
    id === null ? null : (templates.data?.find((template) => template.id === id)?.name ?? null);
  return (
    <div class="page">
      <div class="page-head">
        <h1>Projects</h1>
        <button type="button" class="button button-primary" onClick={() => setEdited('new')}>
          <Icon name="plus" />
          New project
        </button>
      </div>
      {list.error !== null && (
        <Failure what="The projects could not be listed." error={list.error} retry={list.reload} />
      )}
      {list.data === null && list.error === null && <Placeholder rows={4} label="Loading projects" />}
      {list.data?.length === 0 && (
        <Empty title="No projects yet">
          <p>Every session belongs to a project.</p>
        </Empty>
      )}
      {list.data !== null && list.data.length > 0 && (
        <Table
          caption="Projects"
          columns={['Project', 'Default template', 'Uploads', 'Data kept', 'Created']}
          actions
          busy={list.loading}
        >
          {list.data.map((project) => (
            <ProjectRow
              key={project.id}
              project={project}
              template={nameOf(project.defaultSessionTemplateId)}
              onEdit={() => setEdited(project)}
            />
          ))}
        </Table>
      )}
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
        <button
          type="button"
          class="button button-small"
          aria-label={`Edit ${project.title}`}
          onClick={props.onEdit}
        >
          Edit
        </button>
      </td>
    </tr>
  );
}

function ProjectForm(props: {
  project: Project | null;
  templates: readonly { id: number; name: string }[];
  saved: () => void;
  onClose: () => void;
}) {
  const { project } = props;
  const action = useAction();
  const [title, setTitle] = useState(project?.title ?? '');
  const [description, setDescription] = useState(project?.description ?? '');
  const [template, setTemplate] = useState(String(project?.defaultSessionTemplateId ?? ''));
  const [queued, setQueued] = useState(project?.queuedIngestion ?? false);
  const [pinned, setPinned] = useState(project?.pinnedMetadata.join(', ') ?? '');
  const [priority, setPriority] = useState(String(project?.priority ?? 0));
  const [days, setDays] = useState(String(project?.retentionDays ?? ''));
  const save = async () => {
    await saveProject(project?.id ?? null, {
      Title: title.trim(),
      Description: description,
      DefaultSessionTemplateId: template === '' ? null : Number(template),
      QueuedIngestion: queued,
      RetentionDays: days.trim() === '' ? null : Number(days),
      Priority: Number(priority),
      PinnedMetadata: pinned
        .split(',')
        .map((path) => path.trim())
        .filter((path) => path !== ''),
    });
    props.saved();
    props.onClose();
  };
  return (
    <Dialog title={project === null ? 'New project' : 'Edit project'} onClose={props.onClose}>
      <Form
        action={action}
        verb={project === null ? 'Create project' : 'Save'}
        onSubmit={() => void action.run(save)}
        onCancel={props.onClose}
      >
        <TextField label="Title" required value={title} onValue={setTitle} />
        <AreaField label="Description" rows={3} value={description} onValue={setDescription} />
        <SelectField
          label="Default template"
          value={template}
          options={[
            { value: '', label: 'none' },
            ...props.templates.map(({ id, name }) => ({ value: String(id), label: name })),
          ]}
          onValue={setTemplate}
        />
        <TextField
          label="Metadata in the list of sessions"
          hint="Names with commas between, for example driver, track.name. At most 8."
          value={pinned}
          onValue={setPinned}
        />
        <TextField
          label="Keep data for days"
          hint="Leave empty to keep forever. Older sessions are deleted with all their data."
          type="number"
          min={1}
          max={36_500}
          value={days}
          onValue={setDays}
        />
        <PriorityField value={priority} onValue={setPriority} />
        <CheckField
          label="Process uploads strictly in order of arrival"
          checked={queued}
          onChecked={setQueued}
        />
      </Form>
    </Dialog>
  );
}
