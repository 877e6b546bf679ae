import { useState } from 'preact/hooks';
import type { ListedOutput, SessionDimension } from '../api.ts';
import { formatBytes } from '../format.ts';
import { useResource } from '../hooks.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Empty } from '../ui/notice.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { CurveChart } from './curve-chart.tsx';
import { firstBytes, previewBytes, readMedia } from './fetch.ts';
import { mediaOf } from './media.ts';
import { MediaView } from './media-view.tsx';
import type { Curves, Table } from './read.ts';
import { curvesOf, readBytes } from './read.ts';
import { channelTable, recordingCurves } from './recording.ts';
import { TableView } from './table-view.tsx';
import '../styles/preview.css';

interface Shown {
  table: Table | null;
  /** The word for the table's rows, one and many. */
  rowWord: [string, string];
  curves: Curves | null;
  json: unknown;
  text: string | null;
  /** A picture or a video. */
  media: Blob | null;
  isWhole: boolean;
}

const nothing: Shown = {
  table: null,
  rowWord: ['row', 'rows'],
  curves: null,
  json: undefined,
  text: null,
  media: null,
  isWhole: true,
};

const shownCharacters = 200_000;

/** A preview of an output: a picture or video by its type; else a table, a chart, JSON or text by its bytes. */
export function OutputPreview(props: {
  output: ListedOutput;
  name: string;
  dimensions: readonly SessionDimension[];
  onClose: () => void;
}) {
  const { output } = props;
  const preview = useResource(String(output.id), (signal) => openPreview(output, props.dimensions, signal));
  return (
    <Dialog title={props.name} wide onClose={props.onClose}>
      <Loaded of={preview} failure="The output could not be read." rows={5} label="Reading the output">
        {(shown) => <Views shown={shown} output={output} name={props.name} />}
      </Loaded>
    </Dialog>
  );
}

async function openPreview(
  output: ListedOutput,
  dimensions: readonly SessionDimension[],
  signal: AbortSignal,
): Promise<Shown> {
  const channels = channelTable(output);
  if (channels !== null) {
    const curves = await recordingCurves(output.id, dimensions, signal);
    const rowWord: [string, string] = ['channel', 'channels'];
    return { ...nothing, table: channels, rowWord, curves, json: output.metadata };
  }
  const media = mediaOf(output);
  if (media !== null) return { ...nothing, media: await readMedia(output, media, signal) };
  const { bytes, isWhole, contentType } = await firstBytes(output.id, signal);
  const read = readBytes(bytes, output.contentType ?? contentType, isWhole);
  const curves = read.table === null ? null : curvesOf(read.table);
  return { ...nothing, ...read, curves, isWhole };
}

type View = 'media' | 'table' | 'chart' | 'json' | 'text';

function Views(props: { shown: Shown; output: ListedOutput; name: string }) {
  const { shown, output } = props;
  const { media } = shown;
  const mediaLabel = media?.type.startsWith('video/') ? 'Video' : 'Picture';
  const views = [
    { id: 'media' as const, label: mediaLabel, has: media !== null },
    { id: 'table' as const, label: 'Table', has: shown.table !== null },
    { id: 'chart' as const, label: 'Chart', has: shown.curves !== null },
    { id: 'json' as const, label: 'JSON', has: shown.json !== undefined && shown.json !== null },
    { id: 'text' as const, label: 'Text', has: shown.text !== null },
  ].filter(({ has }) => has);
  const [view, setView] = useState<View>(views[0]?.id ?? 'text');
  if (views.length === 0) {
    return (
      <Empty title="No preview: neither a table, a picture nor text">
        <p>Download the output to open it in another program.</p>
      </Empty>
    );
  }
  if (output.sizeBytes === 0) return <Empty title="The output is empty" />;
  return (
    <div class="preview">
      <Tabs label="View of the output" tabs={views} chosen={view} onChoose={setView}>
        {view === 'media' && media !== null && <MediaView media={media} name={props.name} />}
        {view === 'table' && shown.table !== null && <TableView table={shown.table} words={shown.rowWord} />}
        {view === 'chart' && shown.curves !== null && <CurveChart curves={shown.curves} />}
        {view === 'json' && <TextView text={JSON.stringify(shown.json, null, 2)} label="JSON" />}
        {view === 'text' && <TextView text={shown.text ?? ''} label="Text" />}
      </Tabs>
      {!shown.isWhole && (
        <p class="faint">
          The first {formatBytes(previewBytes)} of {formatBytes(output.sizeBytes)} are shown.
        </p>
      )}
    </div>
  );
}

function TextView({ text, label }: { text: string; label: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys scroll only what has the focus
    <section class="preview-frame" tabIndex={0} aria-label={label}>
      <pre class="preview-text">{text.slice(0, shownCharacters)}</pre>
    </section>
  );
}
