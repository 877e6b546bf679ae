import { useMemo, useState } from 'preact/hooks';
import type { ListedOutput, NodeInstanceProgress, SessionActivity, SessionDimension } from '../../api.ts';
import { readActivity } from '../../api.ts';
import { formatBytes, formatExactly } from '../../format.ts';
import { useAction, useResource, useSettled } from '../../hooks.ts';
import { outputTitle, titleOf, typeWord } from '../../names.ts';
import { useAbilities } from '../../role.ts';
import { Ago } from '../../ui/ago.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Empty, Notice } from '../../ui/notice.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { figureColumn, Table } from '../../ui/table.tsx';
import { readAgainMs } from '../in-steps.ts';
import { Kept } from '../kept.tsx';
import { DownloadOutput, usePreview } from '../output-parts.tsx';
import { newestOutputs, outputVersion, ShowMore } from '../session-outputs.tsx';
import { tabAddress } from './address.ts';
import type { TabProps } from './props.ts';
import { uploadersOf } from './uploaders.ts';

const shownAtOnce = 100;
const readEntries = 500;
const settleMs = 250;

/** Every file of the session, uploaded or made by a node, newest first. */
export function Files({ session, followed }: TabProps) {
  const nodes = followed.nodes ?? [];
  const [search, setSearch] = useState('');
  const [count, setCount] = useState(shownAtOnce);
  const wanted = useSettled(search.trim(), settleMs);
  const filter = wanted === '' ? {} : { search: wanted };
  const found = useResource(
    `${count} ${wanted}`,
    (signal) => newestOutputs(session.id, count, filter, signal),
    { version: outputVersion(nodes), keepWhileLoading: true, burstMs: readAgainMs(count) },
  );
  const uploaders = useUploaders(session.id, found.data?.totalCount ?? 0);
  return (
    <div class="page">
      <SearchField label="Search files" value={search} onValue={setSearch} />
      <Loaded of={found} failure="The files could not be read." rows={4} label="Loading the files">
        {({ outputs }) =>
          outputs.length === 0 ? (
            <Empty title={wanted === '' ? 'No files yet' : 'No file has this name'}>
              {wanted === '' && <p>Drop a recording anywhere on this page.</p>}
            </Empty>
          ) : (
            <FileTable
              outputs={outputs}
              busy={found.loading}
              nodes={nodes}
              session={session}
              uploaders={uploaders}
            />
          )
        }
      </Loaded>
      <ShowMore of={found} shown={count} what={['file', 'files']} show={setCount} />
    </div>
  );
}

function FileTable(props: {
  outputs: readonly ListedOutput[];
  busy: boolean;
  nodes: readonly NodeInstanceProgress[];
  session: TabProps['session'];
  uploaders: (output: ListedOutput) => string | null;
}) {
  const { id: sessionId, dimensions } = props.session;
  const nodeNames = new Map(props.nodes.map(({ id, name }) => [id, name]));
  return (
    <div class="dense-list">
      <Table
        caption="Files"
        columns={['File', 'Type', figureColumn('Size'), 'From', 'Created']}
        actions
        busy={props.busy}
      >
        {props.outputs.map((output) => {
          const nodeName = nodeNames.get(output.nodeInstanceId) ?? null;
          const uploader = props.uploaders(output);
          const row = { output, nodeName, sessionId, uploader, dimensions };
          return (
            <Kept key={output.id} of={[JSON.stringify(output), nodeName, uploader, dimensions]}>
              {() => <FileRow {...row} />}
            </Kept>
          );
        })}
      </Table>
    </div>
  );
}

/** What is heard: versions of a file, and outputs without a name of their own, have the same title. */
const spokenName = (output: ListedOutput, nodeName: string | null) =>
  [outputTitle(output), nodeName && titleOf(nodeName), formatExactly(output.createdAt)]
    .filter(Boolean)
    .join(', ');

function FileRow(props: {
  output: ListedOutput;
  nodeName: string | null;
  sessionId: string;
  uploader: string | null;
  dimensions: readonly SessionDimension[];
}) {
  const { output, nodeName } = props;
  const download = useAction();
  const { preview, open } = usePreview(output, props.dimensions);
  return (
    <tr>
      <td class="wrap-anywhere">
        <button
          type="button"
          class="strong-link link-button"
          title={`Preview of ${output.outputIdentifier}`}
          onClick={open}
        >
          {outputTitle(output)}
        </button>
        {download.problem !== null && <Notice tone="error">{download.problem}</Notice>}
        {preview}
      </td>
      <td data-label="Type" title={output.contentType ?? undefined}>
        {typeWord(output.contentType)}
      </td>
      <td data-label="Size" class="nowrap figure">
        {formatBytes(output.sizeBytes)}
      </td>
      <td data-label="From" class="wrap-anywhere">
        {nodeName !== null && (
          <a href={tabAddress(props.sessionId, 'pipeline', output.nodeInstanceId)}>{titleOf(nodeName)}</a>
        )}{' '}
        {props.uploader !== null && <span class="faint uploader">by {props.uploader}</span>}
      </td>
      <td data-label="Created" class="nowrap">
        <Ago at={output.createdAt} />
      </td>
      <td class="table-actions">
        <DownloadOutput output={output} name={spokenName(output, nodeName)} action={download} />
      </td>
    </tr>
  );
}

type Entry = SessionActivity['entries'][number];

/** Who uploaded a file; null for what a node made, and where the activity leaves it open. */
function useUploaders(sessionId: string, outputCount: number): (output: ListedOutput) => string | null {
  const { listSessions } = useAbilities();
  const list = useResource(
    `${sessionId}:${listSessions ? outputCount : ''}`,
    async (signal): Promise<readonly Entry[]> =>
      listSessions ? (await readActivity(sessionId, readEntries, signal)).entries : [],
    { keepWhileLoading: true },
  );
  return useMemo(() => uploadersOf(list.data ?? []), [list.data]);
}
