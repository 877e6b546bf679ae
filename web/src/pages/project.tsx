import { useState } from 'preact/hooks';
import { listIngests, readStorage } from '../admin-api.ts';
import { listProjects, listSessions, listTemplates, type Project, type SessionListRow } from '../api.ts';
import { formatBytes, plural } from '../format.ts';
import { useEvery, useResource, useTitle } from '../hooks.ts';
import { titleOf } from '../names.ts';
import { ProjectFiles } from '../project/files.tsx';
import { NewestSessions } from '../project/newest-sessions.tsx';
import { TrendChart } from '../project/trend-chart.tsx';
import { useAbilities } from '../role.ts';
import { AddButton } from '../ui/buttons.tsx';
import { lazy } from '../ui/lazy.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Empty, Failure, Placeholder } from '../ui/notice.tsx';
import '../styles/project.css';

const newest = 12;
const trendSessions = 100;
const refreshMs = 10_000;

/** A project: its newest sessions, a key figure over them, and what belongs to it. */
export function ProjectPage({ projectId }: { projectId: number }) {
  const projects = useResource('projects', listProjects);
  const project = projects.data?.find(({ id }) => id === projectId) ?? null;
  useTitle(project?.title ?? 'Project');
  return (
    <Loaded of={projects} failure="The project could not be read." rows={4} label="Loading the project">
      {(all) =>
        project === null ? (
          <NoProject />
        ) : (
          <ProjectBody project={project} projects={all} reload={projects.reload} />
        )
      }
    </Loaded>
  );
}

function NoProject() {
  return (
    <Empty isPage title="Project not found">
      <p>
        Check the address. <a href="/project-list">Projects</a>
      </p>
    </Empty>
  );
}

interface ProjectProps {
  project: Project;
  /** All of them. */
  projects: readonly Project[];
}

function ProjectBody({ project, projects, reload }: ProjectProps & { reload: () => void }) {
  const query = { projectId: project.id, page: 1, pageSize: trendSessions } as const;
  const sessions = useResource(`project-sessions ${project.id}`, (signal) =>
    listSessions({ ...query, sortBy: 'date', sortOrder: 'desc' }, signal),
  );
  useEvery(refreshMs, true, sessions.reload);
  const rows = sessions.data?.sessions ?? [];
  return (
    <div class="page">
      <ProjectHead project={project} projects={projects} reload={reload} />
      {sessions.error !== null && (
        <Failure what="Its sessions could not be listed." error={sessions.error} retry={sessions.reload} />
      )}
      <div class="project-columns">
        <div class="project-main">
          {sessions.data === null && sessions.error === null && (
            <Placeholder rows={6} label="Loading sessions" />
          )}
          {sessions.data !== null && rows.length === 0 && (
            <Empty title="No sessions yet">
              <p>Make a new session, then drop a recording on its page.</p>
            </Empty>
          )}
          {rows.length > 0 && <TrendChart sessions={rows} pinned={project.pinnedMetadata} />}
          {rows.length > 0 && (
            <section class="section">
              <h2>Newest sessions</h2>
              <NewestSessions sessions={rows.slice(0, newest)} />
            </section>
          )}
          {sessions.data !== null && <ProjectFiles projectId={project.id} sessions={rows} />}
        </div>
        <Facts project={project} sessions={rows} />
      </div>
    </div>
  );
}

function ProjectHead({ project, projects, reload }: ProjectProps & { reload: () => void }) {
  return (
    <header class="session-head">
      <nav class="crumbs" aria-label="Path">
        <a href="/project-list">Projects</a>
      </nav>
      <div class="page-head">
        <h1>{project.title}</h1>
        <div class="actions">
          <EditProject project={project} projects={projects} saved={reload} />
          <a class="button" href={`/sessions?project=${project.id}`}>
            All sessions
          </a>
          <AddSession project={project} projects={projects} />
        </div>
      </div>
      {project.description !== '' && <p class="faint">{project.description}</p>}
    </header>
  );
}

/** The form's code is fetched when it is opened. */
const FormLoader = lazy(
  () => import('../project/project-form.tsx').then((module) => module.ProjectForm),
  null,
);

const NewSessionLoader = lazy(
  () => import('../sessions/new-session.tsx').then((module) => module.NewSession),
  null,
);

function AddSession({ project, projects }: ProjectProps) {
  const templates = useResource('templates', listTemplates);
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <AddButton disabled={(templates.data ?? []).length === 0} onClick={() => setIsOpen(true)}>
        New session
      </AddButton>
      {isOpen && templates.data !== null && (
        <NewSessionLoader
          world={{ keys: [], projects, templates: templates.data }}
          projectId={project.id}
          onClose={() => setIsOpen(false)}
        />
      )}
    </>
  );
}

function EditProject({ project, projects, saved }: ProjectProps & { saved: () => void }) {
  const { changeProjects } = useAbilities();
  const templates = useResource('templates', listTemplates);
  const [isOpen, setIsOpen] = useState(false);
  if (!changeProjects) return null;
  return (
    <>
      <button type="button" class="button" disabled={templates.data === null} onClick={() => setIsOpen(true)}>
        Edit project
      </button>
      {isOpen && templates.data !== null && (
        <FormLoader
          project={project}
          projects={projects}
          templates={templates.data}
          saved={saved}
          onClose={() => setIsOpen(false)}
        />
      )}
    </>
  );
}

function Facts({ project, sessions }: { project: Project; sessions: readonly SessionListRow[] }) {
  const { operate } = useAbilities();
  const storage = useResource(`storage ${project.id}`, (signal) => readStorage(project.id, signal));
  const templates = useResource('templates', listTemplates);
  const ingests = useResource(`ingests ${operate}`, (signal) =>
    operate ? listIngests(signal) : Promise.resolve([]),
  );
  const held = storage.data?.projects[0];
  const template = templates.data?.find(({ id }) => id === project.defaultSessionTemplateId);
  const own = (ingests.data ?? []).filter(({ projectId }) => projectId === project.id);
  const people = [...new Set(sessions.flatMap(({ owner }) => owner.name ?? []))];
  return (
    <aside class="card project-facts" aria-label="About the project">
      <dl class="facts">
        <dt>Sessions</dt>
        <dd>{held === undefined ? '…' : plural(held.sessions, 'session', 'sessions')}</dd>
        <dt>Storage</dt>
        <dd>{held === undefined ? '…' : formatBytes(held.outputBytes)}</dd>
        <dt>Data kept</dt>
        <dd>{project.retentionDays === null ? 'forever' : plural(project.retentionDays, 'day', 'days')}</dd>
        <dt>Default template</dt>
        <dd>
          {template === undefined ? (
            'none'
          ) : (
            <a href={`/templates/${template.id}`}>{titleOf(template.name)}</a>
          )}
        </dd>
        <dt>Uploads</dt>
        <dd>{project.queuedIngestion ? 'in order' : 'at once'}</dd>
        <dt>Pinned metadata</dt>
        <dd class="wrap-anywhere">{project.pinnedMetadata.join(', ') || 'none'}</dd>
        <dt>People</dt>
        <dd class="wrap-anywhere">
          <People names={people} />
        </dd>
        {operate && (
          <>
            <dt>Ingests</dt>
            <dd class="wrap-anywhere">
              <a href="/ingests">
                {own.length === 0 ? 'none' : own.map(({ urlPath }) => urlPath).join(', ')}
              </a>
            </dd>
          </>
        )}
      </dl>
    </aside>
  );
}

const maxPeople = 12;

function People({ names }: { names: readonly string[] }) {
  return (
    <>
      {names.length === 0 ? 'none yet' : names.slice(0, maxPeople).join(', ')}
      {names.length > maxPeople && ` and ${names.length - maxPeople} more`}
    </>
  );
}
