import { listProjects, querySessions } from '../api.ts';
import type { TimeSpan } from '../dashboard/model.ts';
import { momentsOf } from '../days.ts';
import { plural } from '../format.ts';
import { useEvery, useResource, useTitle } from '../hooks.ts';
import { navigate, useAddress } from '../router.ts';
import { readDay } from '../sessions/address.ts';
import { sharedWindow } from '../shared/model.ts';
import { Timeline } from '../shared/timeline.tsx';
import { DateRange } from '../ui/date-range.tsx';
import { Select } from '../ui/form.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Empty } from '../ui/notice.tsx';
import { Paging, useLastPage } from '../ui/paging.tsx';
import { refreshMs } from '../ui/refreshed-list.ts';
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
  const { span: _span, ...asked } = wanted;
  const list = useLastPage(
    useResource(JSON.stringify(asked), (signal) => findShared(wanted, signal), { keepWhileLoading: true }),
  );
  useEvery(refreshMs, list.data !== null, list.reload);
  return (
    <div class="page">
      <div class="page-head">
        <h1>Shared sessions</h1>
        <Filters wanted={wanted} change={(part) => go({ ...wanted, ...part, page: 1, span: null })} />
      </div>
      <Loaded
        of={list}
        failure="The shared sessions could not be read."
        rows={5}
        label="Loading shared sessions"
      >
        {({ windows, totalCount, totalPages }) =>
          windows.length > 0 ? (
            <>
              <Timeline
                windows={windows}
                span={wanted.span}
                onSpan={(span) => go({ ...wanted, span }, true)}
              />
              <Paging
                page={wanted.page}
                totalPages={Math.max(1, totalPages)}
                summary={plural(totalCount, 'shared session', 'shared sessions')}
                onPage={(page) => go({ ...wanted, page, span: null })}
              />
            </>
          ) : (
            list.error === null && <NoSharedSessions wanted={wanted} />
          )
        }
      </Loaded>
    </div>
  );
}

function NoSharedSessions({ wanted }: { wanted: Wanted }) {
  const isNarrowed = wanted.status !== '' || wanted.projectId !== '' || wanted.from + wanted.to !== '';
  return (
    <Empty title={isNarrowed ? 'No matching shared sessions' : 'No shared sessions yet'}>
      <p>
        Machines of one exercise open a shared session together: the first request opens it, the others join
        it within its window.
      </p>
    </Empty>
  );
}

const states: readonly { value: Wanted['status']; label: string }[] = [
  { value: '', label: 'Open and closed' },
  { value: 'open', label: 'Open' },
  { value: 'closed', label: 'Closed' },
];

function Filters(props: { wanted: Wanted; change: (part: Partial<Wanted>) => void }) {
  const { wanted, change } = props;
  const projects = useResource('projects', listProjects);
  return (
    <div class="filters">
      <Select
        label="State"
        class="filter"
        value={wanted.status}
        options={states}
        onValue={(status) => change({ status })}
      />
      <Select
        label="Project"
        class="filter"
        value={wanted.projectId}
        options={[
          { value: '', label: 'All projects' },
          ...(projects.data ?? []).map(({ id, title }) => ({ value: String(id), label: title })),
        ]}
        onValue={(projectId) => change({ projectId })}
      />
      <DateRange from={wanted.from} to={wanted.to} onChange={(from, to) => change({ from, to })} />
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
  const { from, to } = momentsOf(wanted);
  if (from !== '') conditions.push({ path: 'startTimeUtc', op: 'gte', value: from });
  if (to !== '') conditions.push({ path: 'startTimeUtc', op: 'lte', value: to });
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
  const { totalCount } = found;
  return { windows, totalCount, page: wanted.page, totalPages: Math.ceil(totalCount / pageSize) };
}

function readWanted(query: URLSearchParams): Wanted {
  const page = Number(query.get('page') ?? 1);
  const status = query.get('status');
  const fromMs = Date.parse(query.get('start') ?? '');
  const toMs = Date.parse(query.get('end') ?? '');
  return {
    status: status === 'open' || status === 'closed' ? status : '',
    projectId: /^\d{1,15}$/.test(query.get('project') ?? '') ? (query.get('project') ?? '') : '',
    from: readDay(query.get('from')),
    to: readDay(query.get('to')),
    page: Number.isInteger(page) && page > 0 && page <= 4000 ? page : 1,
    span: toMs > fromMs ? { fromMs, toMs } : null,
  };
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
