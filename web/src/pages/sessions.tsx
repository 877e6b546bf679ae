import { useState } from 'preact/hooks';
import { listProjects, listTemplates } from '../api.ts';
import { useResource, useTitle } from '../hooks.ts';
import type { QueryWorld } from '../query/model.ts';
import { useAbilities } from '../role.ts';
import { useAddress } from '../router.ts';
import { readListQuery } from '../sessions/address.ts';
import { FoundSessions } from '../sessions/found.tsx';
import { ListedSessions } from '../sessions/listed.tsx';
import { NewSession } from '../sessions/new-session.tsx';
import { OwnSessions } from '../sessions/own.tsx';
import { Icon } from '../ui/icon.tsx';
import { Notice } from '../ui/notice.tsx';

const nothing: QueryWorld = { projects: [], templates: [] };

async function readWorld(signal: AbortSignal): Promise<QueryWorld> {
  const [projects, templates] = await Promise.all([listProjects(signal), listTemplates(signal)]);
  return { projects, templates };
}

/** Explains on a new platform why no session can be made. */
function NoProject() {
  const { changeProjects } = useAbilities();
  return (
    <Notice tone="info">
      Every session belongs to a project, and there is none yet.{' '}
      {changeProjects ? <a href="/project-list">Make the first project</a> : 'An Instructor makes the first.'}
    </Notice>
  );
}

/** The sessions that the person may list: by search and filters, or by a whole query. */
export function SessionsPage() {
  useTitle('Sessions');
  const { query } = useAddress();
  const { listSessions } = useAbilities();
  const world = useResource('session-world', readWorld);
  const [making, setMaking] = useState(false);
  const queries = query.has('query');
  const canMake = world.data !== null && world.data.projects.length > 0 && world.data.templates.length > 0;
  return (
    <div class="page">
      <div class="page-head">
        <h1>{listSessions ? 'Sessions' : 'Your sessions'}</h1>
        <div class="actions">
          {listSessions && (
            <a class="button" href={queries ? '/sessions' : '/sessions?query='}>
              <Icon name={queries ? 'list' : 'filter'} />
              {queries ? 'Simple search' : 'Query builder'}
            </a>
          )}
          <button
            type="button"
            class="button button-primary"
            disabled={!canMake}
            onClick={() => setMaking(true)}
          >
            <Icon name="plus" />
            New session
          </button>
        </div>
      </div>
      {world.data?.projects.length === 0 && <NoProject />}
      {listSessions && queries && <FoundSessions world={world.data ?? nothing} />}
      {listSessions && !queries && <ListedSessions world={world.data ?? nothing} />}
      {!listSessions && <OwnSessions />}
      {making && world.data !== null && (
        <NewSession
          world={world.data}
          projectId={readListQuery(query).projectId}
          onClose={() => setMaking(false)}
        />
      )}
    </div>
  );
}
