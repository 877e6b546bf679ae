import type { SessionCount } from '../../../client/types.ts';
import { type Ingest, listIngests } from '../admin-api.ts';
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
  const begun = (projects.data ?? []).filter(
    ({ defaultSessionTemplateId }) => defaultSessionTemplateId === templateId,
  );
  const address = (tab: string) => `/sessions?${tab}template=${templateId}`;
  return (
    <aside class="card template-use" aria-label="Use">
      <h2>Use</h2>
      {error !== null && <Failure what="Its use could not be read." error={error} />}
      <dl class="facts">
        <dt>Sessions</dt>
        <CountLink of={counts.data?.all} address={address('')} />
        <dt>Running</dt>
        <CountLink of={counts.data?.running} address={address('tab=running&')} />
        <dt>Failed</dt>
        <CountLink of={counts.data?.failed} address={address('tab=failed&')} />
        {operate && (
          <>
            <dt>Ingests</dt>
            <IngestNames
              ingests={ingests.data?.filter(({ sessionTemplateId }) => sessionTemplateId === templateId)}
            />
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

function CountLink(props: { of: SessionCount | undefined; address: string }) {
  return (
    <dd>
      {props.of === undefined ? (
        '…'
      ) : (
        <a href={props.address}>
          {formatCount(props.of.count)}
          {!props.of.isExact && '+'}
        </a>
      )}
    </dd>
  );
}

/** The addresses of ingests; undefined while they are loading. */
function IngestNames({ ingests }: { ingests: readonly Ingest[] | undefined }) {
  return (
    <dd class="wrap-anywhere">
      {ingests === undefined ? '…' : ingests.length === 0 && 'none'}
      {ingests !== undefined && ingests.length > 0 && (
        <a href="/ingests">
          {ingests.length}: {ingests.map(({ urlPath }) => urlPath).join(', ')}
        </a>
      )}
    </dd>
  );
}
