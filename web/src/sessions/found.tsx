import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../../../client/errors.ts';
import { plural } from '../format.ts';
import { textOf } from '../http.ts';
import type { AskedQuery } from '../query/address.ts';
import { readAskedQuery, writeAskedQuery } from '../query/address.ts';
import { QueryBuilder } from '../query/builder.tsx';
import { metadataField } from '../query/fields.ts';
import type { Group, Ordering, QueryWorld } from '../query/model.ts';
import { newCondition, newGroup, readFilter, withField, writeFilter } from '../query/model.ts';
import { navigate, useAddress } from '../router.ts';
import { Empty, Failure, Notice, Placeholder } from '../ui/notice.tsx';
import { Paging } from '../ui/paging.tsx';
import { readPage, type Sorting, type SortKey } from './address.ts';
import { FoundRows } from './found-rows.tsx';
import { summaryOf } from './list-model.ts';
import { isFault, useFound } from './use-found.ts';

/** Sessions that a query finds. The query is in the address, so that a link finds the same. */
export function FoundSessions(props: { world: QueryWorld }) {
  const { query } = useAddress();
  const asked = readAskedQuery(query) ?? { filter: null, orderBy: [] };
  const page = readPage(query);
  const address = addressOf(asked, page);
  const { list, shown, showNewer, isLate, again } = useFound(asked, page);
  const hasFault = isFault(list.error);
  return (
    <>
      <Writer
        key={writeAskedQuery({ ...asked, orderBy: [] }).toString()}
        asked={asked}
        addsMetadata={query.get('add') === 'metadata'}
        world={props.world}
        error={list.error}
        busy={isLate}
        submit={(next) => (addressOf(next, 1) === address ? again() : navigate(addressOf(next, 1)))}
      />
      {list.error !== null && !hasFault && (
        <Failure what="The query failed." error={list.error} retry={list.reload} />
      )}
      {shown === null && list.error === null && <Placeholder rows={5} label="Finding sessions" />}
      {!hasFault && shown !== null && shown.rows.length === 0 && shown.newer === 0 && (
        <Empty title="No session matches">
          <p>Text is case-sensitive, and metadata is compared by the type of the value.</p>
        </Empty>
      )}
      {!hasFault && shown !== null && (shown.rows.length > 0 || shown.newer > 0) && (
        <>
          <FoundRows
            address={address}
            rows={shown.rows}
            sorting={sortingOf(asked.orderBy)}
            busy={isLate}
            onSort={(sorting) => navigate(addressOf({ ...asked, orderBy: orderingsOf(sorting) }, 1))}
            changed={again}
          >
            {shown.newer > 0 && (
              <button type="button" class="button button-small sessions-newer" onClick={showNewer}>
                Show {plural(shown.newer, 'further session', 'further sessions')}
              </button>
            )}
          </FoundRows>
          <Paging
            page={page}
            totalPages={Math.max(1, list.data?.totalPages ?? 1)}
            summary={summaryOf(list.data, shown.rows.length)}
            onPage={(number) => navigate(addressOf(asked, number))}
          />
        </>
      )}
    </>
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
  const read =
    asked.filter === null ? newGroup('and', props.addsMetadata ? [] : undefined) : readFilter(asked.filter);
  const [root, setRoot] = useState<Group>(() => {
    const group = read ?? newGroup('and', []);
    if (!props.addsMetadata) return group;
    const condition = withField(newCondition(), metadataField);
    return group.kind === 'and'
      ? { ...group, nodes: [...group.nodes, condition] }
      : newGroup('and', [group, condition]);
  });
  const [orderBy, setOrderBy] = useState<Ordering[]>(asked.orderBy);
  // A heading of the table has ordered the results; what is being written stays.
  useEffect(() => setOrderBy(asked.orderBy), [JSON.stringify(asked.orderBy)]);
  const [faults, setFaults] = useState<ReadonlyMap<number, string>>(new Map());
  const [unreadable] = useState(read === null);

  // The platform names the place of a fault; the condition at that place shows it.
  useEffect(() => {
    if (!(props.error instanceof ApiError)) return;
    const { places } = writeFilter(root);
    const placed = props.error.issues.flatMap(({ path, message }): [number, string][] => {
      const id = places.get(path);
      return id === undefined ? [] : [[id, message]];
    });
    setFaults(new Map(placed));
  }, [props.error]);

  const submit = () => {
    const written = writeFilter(root);
    setFaults(written.faults);
    if (written.faults.size === 0) props.submit({ filter: written.filter, orderBy });
  };
  const isPlaced = faults.size > 0;
  return (
    <>
      {unreadable && (
        <Notice tone="info">The query in the address cannot be shown here. Search replaces it.</Notice>
      )}
      {isFault(props.error) && !isPlaced && <Notice tone="error">{textOf(props.error)}</Notice>}
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
          navigate('/sessions?query=');
        }}
      />
    </>
  );
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
