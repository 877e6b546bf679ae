import { useState } from 'preact/hooks';
import { listMetadataKeys, listProjects, listTemplates } from '../api.ts';
import { useResource, useTitle } from '../hooks.ts';
import type { QueryWorld } from '../query/model.ts';
import { useAbilities } from '../role.ts';
import { useAddress } from '../router.ts';
import { readView } from '../sessions/address.ts';
import { ListedSessions } from '../sessions/listed.tsx';
import { NewSession } from '../sessions/new-session.tsx';
import { OwnSessions } from '../sessions/own.tsx';
import { SavedViews } from '../sessions/saved-views.tsx';
import { AddButton } from '../ui/buttons.tsx';
import { Icon } from '../ui/icon.tsx';
import { lazy } from '../ui/lazy.tsx';
import { Notice } from '../ui/notice.tsx';

const nothing: QueryWorld = { projects: [], templates: [], keys: [] };

/** Metadata keys are suggested; without them one writes them. */
async function readWorld(suggests: boolean, signal: AbortSignal): Promise<QueryWorld> {
  const [projects, templates, keys] = await Promise.all([
    listProjects(signal),
    listTemplates(signal),
    suggests ? listMetadataKeys(null, signal).catch(() => []) : [],
  ]);
  return { projects, templates, keys };
}

/** Explains on a new platform why no session can be made. */
function NoProject() {
  const { changeProjects } = useAbilities();
  return (
    <Notice tone="info">
      Every session belongs to a project, and there is no project yet.{' '}
      {changeProjects ? (
        <a href="/project-list">Create the first project</a>
      ) : (
        'An Instructor can create one.'
      )}
    </Notice>
  );
}

/** The query builder's code is fetched when it is opened. */
const FoundLoader = lazy(() => import('../sessions/found.tsx').then((module) => module.FoundSessions), {
  rows: 5,
  label: 'Loading the query builder',
});

/** The sessions that the person may list: by search and filters, or by a whole query. */
export function SessionsPage() {
  useTitle('Sessions');
  const { query } = useAddress();
  const { listSessions } = useAbilities();
  const [making, setMaking] = useState(false);
  const queries = query.has('query');
  const suggests = listSessions && queries;
  const world = useResource(`session-world ${suggests}`, (signal) => readWorld(suggests, signal), {
    keepWhileLoading: true,
  });
  const canMake = world.data !== null && world.data.projects.length > 0 && world.data.templates.length > 0;
  return (
    <div class="page page-sessions">
      <div class="page-head">
        <h1>{listSessions ? 'Sessions' : 'Your sessions'}</h1>
        {listSessions && <SavedViews projects={world.data?.projects ?? nothing.projects} />}
        <div class="actions">
          {listSessions && (
            <a class="button" href={queries ? '/sessions' : '/sessions?query='}>
              <Icon name={queries ? 'list' : 'filter'} />
              {queries ? 'Simple search' : 'Query builder'}
            </a>
          )}
          <AddButton disabled={!canMake} onClick={() => setMaking(true)}>
            New session
          </AddButton>
        </div>
      </div>
      {world.data?.projects.length === 0 && <NoProject />}
      {listSessions && queries && <FoundLoader world={world.data ?? nothing} />}
      {listSessions && !queries && <ListedSessions world={world.data ?? nothing} />}
      {!listSessions && <OwnSessions />}
      {making && world.data !== null && (
        <NewSession
          world={world.data}
          projectId={readView(query).projectId}
          onClose={() => setMaking(false)}
        />
      )}
    </div>
  );
}
