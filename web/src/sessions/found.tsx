import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../../../client/errors.ts';
import type { SessionQueryRow } from '../api.ts';
import { querySessions } from '../api.ts';
import { plural } from '../format.ts';
import { useResource } from '../hooks.ts';
import { textOf } from '../http.ts';
import { titleOf } from '../names.ts';
import type { AskedQuery } from '../query/address.ts';
import { readAskedQuery, writeAskedQuery } from '../query/address.ts';
import { QueryBuilder } from '../query/builder.tsx';
import { metadataField } from '../query/fields.ts';
import type { Group, Ordering, QueryWorld } from '../query/model.ts';
import { newCondition, newGroup, readFilter, withField, writeFilter } from '../query/model.ts';
import { navigate, useAddress } from '../router.ts';
import { Empty, Failure, Notice, Placeholder } from '../ui/notice.tsx';
import { Paging } from '../ui/paging.tsx';
import { readPage } from './address.ts';
import type { ShownSession } from './table.tsx';
import { SessionTable } from './table.tsx';

const pageSize = 25;

/** Sessions that a query finds. The query is in the address, so that a link finds the same. */
export function FoundSessions(props: { world: QueryWorld }) {
  const { query } = useAddress();
  const asked = readAskedQuery(query) ?? { filter: null, orderBy: [] };
  const askedText = writeAskedQuery(asked).toString();
  const page = readPage(query);
  const result = useResource(
    `${askedText} ${page}`,
    (signal) => querySessions({ ...asked, limit: pageSize, offset: (page - 1) * pageSize }, signal),
    { keepWhileLoading: true },
  );
  const found = result.error === null ? result.data : null;
  return (
    <>
      <Writer
        key={askedText}
        asked={asked}
        addsMetadata={query.get('add') === 'metadata'}
        world={props.world}
        error={result.error}
        busy={result.loading}
      />
      {result.error !== null && !isFault(result.error) && (
        <Failure what="The query failed." error={result.error} retry={result.reload} />
      )}
      {found === null && result.error === null && <Placeholder rows={5} label="Finding sessions" />}
      {found !== null && found.sessions.length === 0 && (
        <Empty title="No session matches">
          <p>Text is case-sensitive, and metadata is compared by the type of the value.</p>
        </Empty>
      )}
      {found !== null && found.sessions.length > 0 && (
        <>
          <SessionTable rows={found.sessions.map((row) => shown(row, props.world))} busy={result.loading} />
          <Paging
            page={page}
            totalPages={Math.max(1, Math.ceil(found.totalCount / pageSize))}
            summary={plural(found.totalCount, 'session', 'sessions')}
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
    if (written.faults.size === 0) navigate(addressOf({ filter: written.filter, orderBy }, 1));
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

function isFault(error: Error | null): boolean {
  return error instanceof ApiError && error.status === 400;
}

function addressOf(asked: AskedQuery, page: number): string {
  const parameters = writeAskedQuery(asked);
  if (page !== 1) parameters.set('page', String(page));
  return `/sessions?${parameters}`;
}

function shown(row: SessionQueryRow, { projects, templates }: QueryWorld): ShownSession {
  return {
    ...row,
    project: projects.find(({ id }) => id === row.projectId)?.title ?? `project ${row.projectId}`,
    template: titleOf(
      templates.find(({ id }) => id === row.sessionTemplateId)?.name ?? `template ${row.sessionTemplateId}`,
    ),
    metadata: metadataOf(row),
  };
}

export function metadataOf(row: SessionQueryRow): Record<string, unknown> | null {
  return row.metadataJson === null ? null : (JSON.parse(row.metadataJson) as Record<string, unknown>);
}
