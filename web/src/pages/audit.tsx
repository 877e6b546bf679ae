import { type AuditPage as AuditAnswer, listAudit, listProjects, listSignInAudit } from '../admin-api.ts';
import { startOfDay } from '../days.ts';
import { useAuth, useResource, useTitle } from '../hooks.ts';
import { actorTitle, idOf, idTitle } from '../names.ts';
import { navigate, useAddress, withParameters } from '../router.ts';
import { readDay } from '../sessions/address.ts';
import { readSessionNames } from '../sessions/session-names.ts';
import { Moment } from '../ui/ago.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { DateRange } from '../ui/date-range.tsx';
import { Empty, Failure, Placeholder } from '../ui/notice.tsx';
import { type Names, readNamesOfPeople } from '../ui/people.ts';
import { SearchField } from '../ui/search-field.tsx';
import { Table } from '../ui/table.tsx';

type Entry = AuditAnswer['entries'][number];

const perPage = 50;
const sources = [
  { id: 'writes', label: 'Changes', list: listAudit },
  { id: 'accounts', label: 'Sign-ins and accounts', list: listSignInAudit },
] as const;
type Source = (typeof sources)[number];
/** By their names in the address. */
const filters = [
  { name: 'action', label: 'Action', placeholder: 'Action, such as Create project' },
  { name: 'actor', label: 'Id of the actor' },
  { name: 'object', label: 'Id of the object' },
] as const;

/** Who wrote what, newest first. The filters are in the address. */
export function AuditPage() {
  useTitle('Audit');
  const { query } = useAddress();
  const source = sources.find(({ id }) => id === query.get('of')) ?? sources[0];
  const [from, to] = [readDay(query.get('from')), readDay(query.get('to'))];
  const asked = {
    action: idOf(query.get('action') ?? '') || undefined,
    actorId: query.get('actor')?.trim() || undefined,
    objectId: query.get('object')?.trim() || undefined,
    from: startOfDay(from),
    to: startOfDay(to, 1),
  };
  // Other entries begin at their newest.
  const change = (part: Record<string, string>) =>
    navigate(withParameters({ ...part, cursor: '' }), { replace: true });
  return (
    <div class="page">
      <div class="page-head">
        <h1>Audit</h1>
      </div>
      <SourceTabs chosen={source.id} onChoose={(id) => change({ of: id === 'writes' ? '' : id })} />
      <div class="filters">
        {filters.map(({ name, ...field }) => (
          <SearchField
            key={name}
            {...field}
            value={query.get(name) ?? ''}
            onValue={(value) => change({ [name]: value })}
          />
        ))}
        <DateRange from={from} to={to} onChange={(first, last) => change({ from: first, to: last })} />
      </div>
      <Entries
        source={source}
        asked={asked}
        cursors={(query.get('cursor') ?? '').split(' ').filter((cursor) => cursor !== '')}
      />
    </div>
  );
}

function SourceTabs(props: { chosen: Source['id']; onChoose: (id: Source['id']) => void }) {
  return (
    <nav class="tabs session-tabs" aria-label="Which events">
      {sources.map(({ id, label }) => (
        <button
          key={id}
          type="button"
          class="tab"
          aria-current={id === props.chosen ? 'page' : undefined}
          onClick={() => props.onChoose(id)}
        >
          {label}
        </button>
      ))}
    </nav>
  );
}

/** A filter that finds nothing may be meant for the other list. */
function NoEntries(props: { source: Source; isFiltered: boolean }) {
  return (
    <Empty title={props.isFiltered ? 'No matching entries' : 'No entries yet'}>
      {sources.map(
        ({ id, label }) =>
          id !== props.source.id && (
            <p key={id}>
              <a href={withParameters({ of: id === 'writes' ? '' : id, cursor: '' })}>{label}</a> are listed
              apart.
            </p>
          ),
      )}
    </Empty>
  );
}

/** A page has the cursor of the next one alone: the address has those of all before it, for the way back. */
function Entries(props: { source: Source; asked: object; cursors: readonly string[] }) {
  const { cursors } = props;
  const cursor = cursors.at(-1);
  const turn = (to: readonly string[]) => {
    navigate(withParameters({ cursor: to.join(' ') }));
    window.scrollTo(0, 0);
  };
  const list = useResource(
    `audit ${props.source.id} ${JSON.stringify(props.asked)} ${cursor ?? ''}`,
    async (signal) =>
      withNames(await props.source.list({ ...props.asked, cursor, limit: perPage }, signal), signal),
    { keepWhileLoading: true },
  );
  const next = list.data?.nextCursor ?? null;
  if (list.error !== null)
    return <Failure what="The audit could not be read." error={list.error} retry={list.reload} />;
  if (list.data === null) return <Placeholder rows={6} label="Loading the audit" />;
  const isFiltered = Object.values(props.asked).some((value) => value !== undefined);
  if (list.data.entries.length === 0) return <NoEntries source={props.source} isFiltered={isFiltered} />;
  return (
    <>
      <div class="session-rows">
        <EntryTable {...list.data} busy={list.loading} />
      </div>
      <nav class="paging" aria-label="Pages">
        <span class="faint">Newest first</span>
        <div class="paging-buttons">
          <button
            type="button"
            class="button button-small"
            disabled={cursors.length === 0}
            onClick={() => turn(cursors.slice(0, -1))}
          >
            Newer
          </button>
          <button
            type="button"
            class="button button-small"
            disabled={next === null}
            onClick={() => next !== null && !list.loading && turn([...cursors, next])}
          >
            Older
          </button>
        </div>
      </nav>
    </>
  );
}

/** The entries with the names of what they hold, so that no row changes once it is shown. A name that cannot be read is left out. */
async function withNames(answer: AuditAnswer, signal: AbortSignal) {
  const { entries } = answer;
  const none = (): Names => new Map();
  const [people, sessions, projects] = await Promise.all([
    readNamesOfPeople(peopleOf(entries), signal).catch(none),
    readSessionNames(
      entries.flatMap((entry) => sessionOf(entry) ?? []),
      signal,
    ).catch(none),
    entries.some(isOfProject) ? readProjectNames(signal).catch(none) : none(),
  ]);
  return { ...answer, people, sessions, projects };
}

const isOfProject = ({ object }: Entry) => object.type === 'project';

async function readProjectNames(signal: AbortSignal): Promise<Names> {
  return new Map((await listProjects(signal)).map(({ id, title }) => [String(id), title]));
}

function EntryTable(props: Awaited<ReturnType<typeof withNames>> & { busy: boolean }) {
  const ownId = useAuth().signIn?.user.userId;
  const { people, sessions, projects } = props;
  return (
    <Table
      caption="Audit entries"
      columns={['When', 'Action', 'Actor', 'Object', 'Network']}
      busy={props.busy}
    >
      {props.entries.map((entry) => (
        <tr key={entry.id}>
          <td class="nowrap" title={entry.at}>
            <Moment at={entry.at} />
          </td>
          <td data-label="Action" class="nowrap" title={entry.action}>
            {idTitle(entry.action)}
          </td>
          <td data-label="Actor" class="wrap-anywhere">
            {actorTitle(entry.actor, ownId, people)}
            {entry.actor.role !== null && <span class="faint">, {entry.actor.role}</span>}{' '}
            {entry.actor.id !== null && entry.actor.id !== ownId && <Id id={entry.actor.id} />}
          </td>
          <td data-label="Object" class="wrap-anywhere">
            {(isOfProject(entry) ? projects : people).get(entry.object.id) ?? idTitle(entry.object.type)}{' '}
            {entry.object.id !== null && entry.object.type !== 'session' && <Id id={entry.object.id} />}
            <SessionOf entry={entry} names={sessions} />
          </td>
          <td data-label="Network" class="nowrap faint">
            {entry.network}
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** The people in entries. */
const peopleOf = (entries: readonly Entry[]) =>
  entries.flatMap(({ actor, object }) => [
    ...(actor.kind === 'user' && actor.id !== null ? [actor.id] : []),
    ...(object.type === 'user' && object.id !== null ? [object.id] : []),
  ]);

/** The session that was written, or to which what was written belongs. */
const sessionOf = ({ object, sessionId }: Entry) => (object.type === 'session' ? object.id : sessionId);

/** By its name; one that is deleted has its id. */
function SessionOf(props: { entry: Entry; names: Names }) {
  const { entry, names } = props;
  const id = sessionOf(entry);
  if (id === null) return null;
  const name = names.get(id);
  return (
    <>
      {entry.object.type !== 'session' && 'of session '}
      <a class={name === undefined ? 'mono' : undefined} href={`/sessions/${id}`} title={id}>
        {name ?? shortened(id)}
      </a>
    </>
  );
}

const Id = ({ id }: { id: string }) => (
  <span class="mono nowrap" title={id}>
    {shortened(id)} {shortened(id) !== id && <CopyButton text={id} label={`Copy ${id}`} />}
  </span>
);

/** Ids are shortened in the middle. */
const shortened = (id: string) => (id.length > 16 ? `${id.slice(0, 8)}…${id.slice(-4)}` : id);
