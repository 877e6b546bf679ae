import { listProjects, querySessions } from '../api.ts';
import type { TimeSpan } from '../dashboard/model.ts';
import { plural } from '../format.ts';
import { useResource, useTitle } from '../hooks.ts';
import { navigate, useAddress } from '../router.ts';
import { sharedWindow } from '../shared/model.ts';
import { Timeline } from '../shared/timeline.tsx';
import { DateRange } from '../ui/date-range.tsx';
import { Empty, Failure, Placeholder } from '../ui/notice.tsx';
import { Paging } from '../ui/paging.tsx';
import '../styles/session/timeline.css';

const pageSize = 25;

interface Wanted {
  status: '' | 'open' | 'closed';
  projectId: string;
  from: string;
  to: string;
  page: number;
  span: TimeSpan | null;
}

/** Shared sessions with their windows and participants on a timeline; the view is in the address. */
export function SharedSessionsPage() {
  useTitle('Shared sessions');
  const { query } = useAddress();
  const wanted = readWanted(query);
  const projects = useResource('projects', listProjects);
  const { span: _span, ...asked } = wanted;
  const list = useResource(JSON.stringify(asked), (signal) => findShared(wanted, signal), {
    keepWhileLoading: true,
  });
  const windows = list.data?.windows ?? [];
  const isNarrowed = wanted.status !== '' || wanted.projectId !== '' || wanted.from + wanted.to !== '';
  return (
    <div class="page">
      <div class="page-head">
        <h1>Shared sessions</h1>
        <div class="filters">
          <select
            class="select filter"
            aria-label="State"
            value={wanted.status}
            onChange={(event) => {
              const status = event.currentTarget.value as Wanted['status'];
              go({ ...wanted, status, page: 1, span: null });
            }}
          >
            <option value="">Open and closed</option>
            <option value="open">Open</option>
            <option value="closed">Closed</option>
          </select>
          <select
            class="select filter"
            aria-label="Project"
            value={wanted.projectId}
            onChange={(event) => go({ ...wanted, projectId: event.currentTarget.value, page: 1, span: null })}
          >
            <option value="">All projects</option>
            {projects.data?.map(({ id, title }) => (
              <option key={id} value={String(id)}>
                {title}
              </option>
            ))}
          </select>
          <DateRange
            from={wanted.from}
            to={wanted.to}
            onChange={(from, to) => go({ ...wanted, from, to, page: 1, span: null })}
          />
        </div>
      </div>
      {list.error !== null && (
        <Failure what="The shared sessions could not be read." error={list.error} retry={list.reload} />
      )}
      {list.data === null && list.error === null && <Placeholder rows={5} label="Loading shared sessions" />}
      {list.data !== null && list.error === null && windows.length === 0 && (
        <Empty title={isNarrowed ? 'No matching shared sessions' : 'No shared sessions yet'}>
          <p>
            Machines of one exercise open a shared session together: the first request opens it, the others
            join it within its window.
          </p>
        </Empty>
      )}
      {windows.length > 0 && (
        <>
          <Timeline windows={windows} span={wanted.span} onSpan={(span) => go({ ...wanted, span }, true)} />
          <Paging
            page={wanted.page}
            totalPages={Math.max(1, Math.ceil((list.data?.totalCount ?? 0) / pageSize))}
            summary={plural(list.data?.totalCount ?? 0, 'shared session', 'shared sessions')}
            onPage={(page) => go({ ...wanted, page, span: null })}
          />
        </>
      )}
    </div>
  );
}

/** Newest window first. A shared session is recognised by its metadata. */
async function findShared(wanted: Wanted, signal: AbortSignal) {
  const conditions: object[] = [
    { path: 'timeWindowSeconds', op: 'exists' },
    { path: 'machineGroup', op: 'exists' },
    wanted.status === ''
      ? { path: 'status', op: 'in', value: ['open', 'closed'] }
      : { path: 'status', op: 'eq', value: wanted.status },
  ];
  if (wanted.projectId !== '')
    conditions.push({ path: 'projectId', op: 'eq', value: Number(wanted.projectId) });
  // Times in the metadata are texts of one form, so text order is time order.
  if (wanted.from !== '') conditions.push({ path: 'startTimeUtc', op: 'gte', value: `${wanted.from}T` });
  if (wanted.to !== '') conditions.push({ path: 'startTimeUtc', op: 'lte', value: `${wanted.to}T99` });
  const found = await querySessions(
    {
      filter: { and: conditions },
      orderBy: [{ path: 'startTimeUtc', direction: 'desc' }],
      limit: pageSize,
      offset: (wanted.page - 1) * pageSize,
    },
    signal,
  );
  const windows = found.sessions.flatMap((session) => {
    const metadata = session.metadataJson === null ? null : JSON.parse(session.metadataJson);
    const window = sharedWindow({ ...session, metadata });
    return window === null ? [] : [window];
  });
  return { windows, totalCount: found.totalCount };
}

function readWanted(query: URLSearchParams): Wanted {
  const page = Number(query.get('page') ?? 1);
  const status = query.get('status');
  const fromMs = Date.parse(query.get('start') ?? '');
  const toMs = Date.parse(query.get('end') ?? '');
  return {
    status: status === 'open' || status === 'closed' ? status : '',
    projectId: /^\d{1,15}$/.test(query.get('project') ?? '') ? (query.get('project') ?? '') : '',
    from: dateOrNone(query.get('from')),
    to: dateOrNone(query.get('to')),
    page: Number.isInteger(page) && page > 0 && page <= 4000 ? page : 1,
    span: toMs > fromMs ? { fromMs, toMs } : null,
  };
}

function dateOrNone(text: string | null): string {
  return text !== null && /^\d{4}-\d\d-\d\d$/.test(text) ? text : '';
}

function go(wanted: Wanted, replace = false): void {
  const parameters = new URLSearchParams();
  if (wanted.status !== '') parameters.set('status', wanted.status);
  if (wanted.projectId !== '') parameters.set('project', wanted.projectId);
  if (wanted.from !== '') parameters.set('from', wanted.from);
  if (wanted.to !== '') parameters.set('to', wanted.to);
  if (wanted.page !== 1) parameters.set('page', String(wanted.page));
  if (wanted.span !== null) {
    parameters.set('start', new Date(wanted.span.fromMs).toISOString());
    parameters.set('end', new Date(wanted.span.toMs).toISOString());
  }
  const text = parameters.toString();
  navigate(text === '' ? '/shared-sessions' : `/shared-sessions?${text}`, { replace });
}
