import { useState } from 'preact/hooks';
import { Pages } from '../admin/pages.tsx';
import type { Project } from '../admin-api.ts';
import { listProjects, listTemplates } from '../admin-api.ts';
import { plural } from '../format.ts';
import { useResource, useTitle } from '../hooks.ts';
import { titleOf } from '../names.ts';
import { ProjectForm } from '../project/project-form.tsx';
import { Ago } from '../ui/ago.tsx';
import { AddButton, RowButton } from '../ui/buttons.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Empty } from '../ui/notice.tsx';

import { SearchField } from '../ui/search-field.tsx';
import { useAddressSearch } from '../ui/search-text.ts';
import { Table } from '../ui/table.tsx';

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
          projects={list.data ?? []}
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
        <p>Every session belongs to a project, which says how long its data are kept.</p>
      </Empty>
    );
  if (found.length === 0) return <Empty title={`No project matches “${wanted}”`} />;
  return (
    <Pages of={found} what={['project', 'projects']}>
      {(shown) => (
        <Table
          caption="Projects"
          columns={['Project', 'Default template', 'Uploads', 'Data kept', 'Created']}
          actions
          busy={props.busy}
        >
          {shown.map((project) => (
            <ProjectRow
              key={project.id}
              project={project}
              template={props.nameOf(project.defaultSessionTemplateId)}
              onEdit={() => props.onEdit(project)}
            />
          ))}
        </Table>
      )}
    </Pages>
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
