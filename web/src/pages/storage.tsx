import { Pages } from '../admin/pages.tsx';
import { type ProjectStorage, readStorage } from '../admin-api.ts';
import { formatBytes, formatCount, formatExactly, plural } from '../format.ts';
import { useResource, useTitle } from '../hooks.ts';
import { useAbilities } from '../role.ts';
import { Ago } from '../ui/ago.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Empty } from '../ui/notice.tsx';

import { SearchField } from '../ui/search-field.tsx';
import { useAddressSearch } from '../ui/search-text.ts';
import { figureColumn, Table } from '../ui/table.tsx';

/** What each project holds, the largest first. */
export function StoragePage() {
  useTitle('Storage');
  const { administrate } = useAbilities();
  const storage = useResource('storage', (signal) => readStorage(null, signal));
  const { wanted, text, setText } = useAddressSearch();
  const projects = storage.data?.projects ?? [];
  const found = projects.filter(({ projectTitle }) =>
    projectTitle.toLowerCase().includes(wanted.toLowerCase()),
  );
  const bytes = projects.reduce((sum, { outputBytes }) => sum + outputBytes, 0);
  const sessions = projects.reduce((sum, one) => sum + one.sessions, 0);
  return (
    <div class="page">
      <div class="page-head">
        <h1>Storage</h1>
        <SearchField label="Search by project" value={text} onValue={setText} />
      </div>
      <p class="faint">
        {storage.data !== null &&
          `${formatBytes(bytes)} in ${plural(sessions, 'session', 'sessions')} of ${plural(projects.length, 'project', 'projects')}. `}
        {storage.data !== null && (
          <>
            Added up <Ago at={storage.data.measuredAt} />.{' '}
          </>
        )}
        {administrate && <a href="/retention">Retention</a>}
      </p>
      <Loaded of={storage} failure="Storage could not be read." rows={4} label="Loading storage">
        {() =>
          found.length === 0 ? (
            <Empty title={projects.length === 0 ? 'No projects yet' : `No project matches “${wanted}”`}>
              {projects.length === 0 && (
                <p>
                  <a href="/project-list">Create the first project</a>
                </p>
              )}
            </Empty>
          ) : (
            <Pages of={found} what={['project', 'projects']}>
              {(shown) => <StorageTable projects={shown} allBytes={bytes} />}
            </Pages>
          )
        }
      </Loaded>
    </div>
  );
}

type Projects = ProjectStorage['projects'];

function StorageTable({ projects, allBytes }: { projects: Projects; allBytes: number }) {
  return (
    <Table
      caption="Storage by project"
      columns={[
        'Project',
        figureColumn('Size'),
        'Share',
        figureColumn('Sessions'),
        figureColumn('Frozen'),
        'Newest session',
      ]}
    >
      {projects.map((project) => (
        <ProjectRow key={project.projectId} project={project} allBytes={allBytes} />
      ))}
    </Table>
  );
}

function ProjectRow({ project, allBytes }: { project: Projects[number]; allBytes: number }) {
  const { newestSessionAt } = project;
  const share = `${formatBytes(project.outputBytes)} of ${formatBytes(allBytes)}`;
  return (
    <tr>
      <td class="wrap-anywhere">
        <a
          class="row-link"
          href={`/project-list/${project.projectId}`}
          {...(newestSessionAt === null ? {} : { title: `Newest session ${formatExactly(newestSessionAt)}` })}
        >
          {project.projectTitle}
        </a>
      </td>
      <td data-label="Size" class="nowrap figure">
        {formatBytes(project.outputBytes)}
      </td>
      <td data-label="Share">
        <meter
          class="storage-share"
          min={0}
          max={Math.max(1, allBytes)}
          value={project.outputBytes}
          aria-label={`Share of ${project.projectTitle}`}
          aria-valuetext={share}
        >
          {share}
        </meter>
      </td>
      <td data-label="Sessions" class="figure">
        {formatCount(project.sessions)}
      </td>
      <td data-label="Frozen" class="figure">
        {project.frozenSessions > 0 && formatCount(project.frozenSessions)}
      </td>
      <td data-label="Newest session" class="nowrap">
        {newestSessionAt !== null && <Ago at={newestSessionAt} />}
      </td>
    </tr>
  );
}
