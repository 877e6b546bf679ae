import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from '../../../client/errors.ts';
import { textOf } from '../http.ts';
import type { AskedQuery } from '../query/address.ts';
import { readAskedQuery, writeAskedQuery } from '../query/address.ts';
import { QueryBuilder } from '../query/builder.tsx';
import { metadataField } from '../query/fields.ts';
import type { Group, Ordering, QueryWorld } from '../query/model.ts';
import { newCondition, newGroup, readFilter, withField, writeFilter } from '../query/model.ts';
import { navigate, useAddress } from '../router.ts';
import { Loaded } from '../ui/loaded.tsx';
import { Empty, Notice } from '../ui/notice.tsx';
import { readPage, type Sorting, type SortKey } from './address.ts';
import { FoundRows } from './found-rows.tsx';
import { NewerSessions, SessionPaging } from './row-parts.tsx';
import { isFault, useFound } from './use-found.ts';

/** Sessions that a query finds. The query is in the address, so that a link finds the same. */
export function FoundSessions(props: { world: QueryWorld }) {
  const { query } = useAddress();
  const asked = readAskedQuery(query) ?? { filter: null, orderBy: [] };
  const page = readPage(query);
  const address = addressOf(asked, page);
  const { list, loaded, showNewer, isLate, again } = useFound(asked, page);
  const writer = useWriter(asked, address, again);
  return (
    <>
      <Writer
        key={writer.key}
        asked={asked}
        addsMetadata={query.get('add') === 'metadata'}
        world={props.world}
        error={list.error}
        busy={isLate}
        submit={writer.submit}
      />
      {/* A fault of the query is shown beside its condition, in place of what was found. */}
      {!isFault(list.error) && (
        <Loaded of={loaded} failure="The query failed." rows={5} label="Finding sessions">
          {({ rows, newer }) =>
            rows.length === 0 && newer === 0 ? (
              <NoSessions />
            ) : (
              <>
                <FoundRows
                  address={address}
                  rows={rows}
                  sorting={sortingOf(asked.orderBy)}
                  busy={isLate}
                  onSort={(sorting) => navigate(addressOf({ ...asked, orderBy: orderingsOf(sorting) }, 1))}
                  changed={again}
                >
                  <NewerSessions newer={newer} word="further" show={showNewer} />
                </FoundRows>
                <SessionPaging
                  page={page}
                  list={list.data}
                  rows={rows.length}
                  onPage={(number) => navigate(addressOf(asked, number))}
                />
              </>
            )
          }
        </Loaded>
      )}
    </>
  );
}

/** The fields of a query stay, with the focus, when they are sent; another address has fields of its own. */
function useWriter(asked: AskedQuery, address: string, again: () => void) {
  const text = filterText(asked);
  const held = useRef({ text, key: 0 });
  if (held.current.text !== text) held.current = { text, key: held.current.key + 1 };
  return {
    key: held.current.key,
    submit: (next: AskedQuery) => {
      held.current.text = filterText(next);
      if (addressOf(next, 1) === address) again();
      else navigate(addressOf(next, 1));
    },
  };
}

const filterText = (asked: AskedQuery) => writeAskedQuery({ ...asked, orderBy: [] }).toString();

function NoSessions() {
  return (
    <Empty title="No session matches">
      <p>Text is case-sensitive, and metadata is compared by the type of the value.</p>
    </Empty>
  );
}

/** The query being edited; its button sends it. */
function Writer(props: {
  asked: AskedQuery;
  /** It opens with a further condition, for metadata. */
  addsMetadata: boolean;
  world: QueryWorld;
  error: Error | null;
  busy: boolean;
  submit: (asked: AskedQuery) => void;
}) {
  const { asked } = props;
  const first = useFirst(asked, props.addsMetadata);
  const [root, setRoot] = useState<Group>(first.group);
  const [orderBy, setOrderBy] = useState<Ordering[]>(asked.orderBy);
  // A heading of the table has ordered the results; what is being written stays.
  useEffect(() => setOrderBy(asked.orderBy), [JSON.stringify(asked.orderBy)]);
  const [faults, setFaults] = useState<ReadonlyMap<number, string>>(new Map());
  useEffect(() => {
    if (props.error instanceof ApiError) setFaults(faultsOf(props.error, root));
  }, [props.error]);

  const submit = () => {
    const written = writeFilter(root);
    setFaults(written.faults);
    if (written.faults.size === 0) props.submit({ filter: written.filter, orderBy });
  };
  return (
    <>
      {first.isUnread && (
        <Notice tone="info">The query in the address cannot be shown here. Search replaces it.</Notice>
      )}
      {isFault(props.error) && faults.size === 0 && <Notice tone="error">{textOf(props.error)}</Notice>}
      <QueryBuilder
        root={root}
        orderBy={orderBy}
        world={props.world}
        faults={faults}
        busy={props.busy}
        onRoot={setRoot}
        onOrderBy={setOrderBy}
        onSubmit={submit}
        onClear={() => {
          setRoot(newGroup('and'));
          setOrderBy([]);
          setFaults(new Map());
          props.submit({ filter: null, orderBy: [] });
        }}
      />
    </>
  );
}

/** The group to begin with; whether the address still has what could not be read. */
function useFirst(asked: AskedQuery, addsMetadata: boolean) {
  const text = filterText(asked);
  const [first] = useState(() => ({ ...groupOf(asked.filter, addsMetadata), text }));
  return { group: first.group, isUnread: !first.isReadable && first.text === text };
}

/** The group of a filter from the address; one that cannot be read is replaced by an empty group. */
function groupOf(filter: AskedQuery['filter'], addsMetadata: boolean) {
  const read = filter === null ? newGroup('and', addsMetadata ? [] : undefined) : readFilter(filter);
  const group = read ?? newGroup('and', []);
  return { group: addsMetadata ? withMetadata(group) : group, isReadable: read !== null };
}

function withMetadata(group: Group): Group {
  const condition = withField(newCondition(), metadataField);
  return group.kind === 'and'
    ? { ...group, nodes: [...group.nodes, condition] }
    : newGroup('and', [group, condition]);
}

/** The platform names the place of a fault; the condition at that place shows it. */
function faultsOf(error: ApiError, root: Group): ReadonlyMap<number, string> {
  const { places } = writeFilter(root);
  const placed = error.issues.flatMap(({ path, message }): [number, string][] => {
    const id = places.get(path);
    return id === undefined ? [] : [[id, message]];
  });
  return new Map(placed);
}

function addressOf(asked: AskedQuery, page: number): string {
  const parameters = writeAskedQuery(asked);
  if (page !== 1) parameters.set('page', String(page));
  return `/sessions?${parameters}`;
}

const sortPaths: Readonly<Record<SortKey, string>> = { date: 'createdAt', name: 'name' };

/** The column that the query orders by first; without an order the newest come first. */
function sortingOf([first]: readonly Ordering[]): Sorting {
  if (first === undefined) return { sortBy: 'date', sortOrder: 'desc' };
  const sortBy = first.path === sortPaths.date ? 'date' : first.path === sortPaths.name ? 'name' : null;
  return { sortBy, sortOrder: first.direction };
}

function orderingsOf({ sortBy, sortOrder }: Sorting): Ordering[] {
  return sortBy === null ? [] : [{ path: sortPaths[sortBy], direction: sortOrder }];
}
