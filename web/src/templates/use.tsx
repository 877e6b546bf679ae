import { listIngests } from '../admin-api.ts';
import { countSessions, listProjects } from '../api.ts';
import { formatCount } from '../format.ts';
import { useEvery, useResource } from '../hooks.ts';
import { useAbilities } from '../role.ts';
import { Failure } from '../ui/notice.tsx';

const refreshMs = 10_000;

/** What uses a template: sessions by state, ingests, and projects that begin with it. */
export function TemplateUse({ templateId }: { templateId: number }) {
  const { operate } = useAbilities();
  const counts = useResource(`template-sessions ${templateId}`, (signal) =>
    countSessions({ sessionTemplateId: templateId }, signal),
  );
  useEvery(refreshMs, true, counts.reload);
  const projects = useResource('projects', listProjects);
  const ingests = useResource(`ingests ${operate}`, (signal) =>
    operate ? listIngests(signal) : Promise.resolve([]),
  );
  const error = counts.error ?? projects.error ?? ingests.error;
  const fed = (ingests.data ?? []).filter((ingest) => ingest.sessionTemplateId === templateId);
  const begun = (projects.data ?? []).filter(
    ({ defaultSessionTemplateId }) => defaultSessionTemplateId === templateId,
  );
  const count = (name: 'all' | 'running' | 'failed', tab: string) => (
    <dd>
      {counts.data === null ? (
        '…'
      ) : (
        <a href={`/sessions?${tab}template=${templateId}`}>
          {formatCount(counts.data[name].count)}
          {!counts.data[name].isExact && '+'}
        </a>
      )}
    </dd>
  );
  return (
    <aside class="card template-use" aria-label="Use">
      <h2>Use</h2>
      {error !== null && <Failure what="Its use could not be read." error={error} />}
      <dl class="facts">
        <dt>Sessions</dt>
        {count('all', '')}
        <dt>Running</dt>
        {count('running', 'tab=running&')}
        <dt>Failed</dt>
        {count('failed', 'tab=failed&')}
        {operate && (
          <>
            <dt>Ingests</dt>
            <dd class="wrap-anywhere">
              {ingests.data === null ? '…' : fed.length === 0 && 'none'}
              {fed.length > 0 && (
                <a href="/ingests">
                  {fed.length}: {fed.map(({ urlPath }) => urlPath).join(', ')}
                </a>
              )}
            </dd>
          </>
        )}
        <dt>Default of</dt>
        <dd class="wrap-anywhere">
          {projects.data === null ? '…' : begun.length === 0 && 'no project'}
          {begun.map(({ id, title }, index) => (
            <span key={id}>
              {index > 0 && ', '}
              <a href={`/project-list/${id}`}>{title}</a>
            </span>
          ))}
        </dd>
      </dl>
    </aside>
  );
}
