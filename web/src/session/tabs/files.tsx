import { useState } from 'preact/hooks';
import type { ListedOutput, NodeInstanceProgress, SessionActivity, SessionDimension } from '../../api.ts';
import { readActivity } from '../../api.ts';
import { formatBytes } from '../../format.ts';
import { useAction, useResource, useSettled } from '../../hooks.ts';
import { outputTitle, titleOf, typeWord } from '../../names.ts';
import { useAbilities } from '../../role.ts';
import { Ago } from '../../ui/ago.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Empty, Notice } from '../../ui/notice.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { figureColumn, Table } from '../../ui/table.tsx';
import { DownloadOutput, usePreview } from '../output-parts.tsx';
import { newestOutputs, outputVersion, ShowMore } from '../session-outputs.tsx';
import { tabAddress } from './address.ts';
import type { TabProps } from './props.ts';

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
    { version: outputVersion(nodes), keepWhileLoading: true },
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
            <div class="dense-list">
              <Table
                caption="Files"
                columns={['File', 'Type', figureColumn('Size'), 'From', 'Created']}
                actions
                busy={found.loading}
              >
                {outputs.map((output) => (
                  <FileRow
                    key={output.id}
                    output={output}
                    node={nodes.find(({ id }) => id === output.nodeInstanceId) ?? null}
                    sessionId={session.id}
                    uploader={uploaders(output)}
                    dimensions={session.dimensions}
                  />
                ))}
              </Table>
            </div>
          )
        }
      </Loaded>
      <ShowMore of={found} shown={count} what={['file', 'files']} show={setCount} />
    </div>
  );
}

function FileRow(props: {
  output: ListedOutput;
  node: NodeInstanceProgress | null;
  sessionId: string;
  uploader: string | null;
  dimensions: readonly SessionDimension[];
}) {
  const { output, node } = props;
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
        {node !== null && <a href={tabAddress(props.sessionId, 'pipeline', node.id)}>{titleOf(node.name)}</a>}
        {props.uploader !== null && <span class="faint uploader">by {props.uploader}</span>}
      </td>
      <td data-label="Created" class="nowrap">
        <Ago at={output.createdAt} />
      </td>
      <td class="table-actions">
        <DownloadOutput output={output} action={download} />
      </td>
    </tr>
  );
}

type Entry = SessionActivity['entries'][number];

/** An upload and its entry in the activity are of one transaction. */
const sameMs = 2000;

/** Who uploaded a file; null for what a node made, and where the activity leaves it open. */
function useUploaders(sessionId: string, outputCount: number): (output: ListedOutput) => string | null {
  const { listSessions } = useAbilities();
  const list = useResource(
    `${sessionId}:${listSessions ? outputCount : ''}`,
    async (signal): Promise<readonly Entry[]> =>
      listSessions ? (await readActivity(sessionId, readEntries, signal)).entries : [],
    { keepWhileLoading: true },
  );
  return (output) => uploaderOf(output, list.data ?? []);
}

function uploaderOf(output: ListedOutput, entries: readonly Entry[]): string | null {
  const near = entries.filter(
    ({ action, at, object }) =>
      action === 'uploadNodeOutput' &&
      object.id === String(output.nodeInstanceId) &&
      Math.abs(Date.parse(at) - Date.parse(output.createdAt)) < sameMs,
  );
  const actors = new Set(near.map(({ actor }) => actor.id));
  // Uploads of several people at the same moment cannot be told apart.
  return actors.size === 1 ? (near[0]!.actor.name ?? near[0]!.actor.kind) : null;
}
