import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { ListedOutput, SessionDimension } from '../api.ts';
import { downloadAddress } from '../api.ts';
import type { Action } from '../hooks.ts';
import { outputTitle } from '../names.ts';
import { downloadFrom } from '../save.ts';
import { DownloadButton } from '../ui/download-button.tsx';
import { lazy } from '../ui/lazy.tsx';

/** The code for tables and charts is fetched when a preview is opened. */
const PreviewLoader = lazy(() => import('../preview/preview.tsx').then((module) => module.OutputPreview), {
  rows: 1,
  label: 'Loading',
});

const endings: Readonly<Record<string, string>> = {
  'text/csv': '.csv',
  'text/tab-separated-values': '.tsv',
  'application/json': '.json',
  'application/x-ndjson': '.ndjson',
  'application/vnd.apache.parquet': '.parquet',
  'text/plain': '.txt',
};

/** The title of an output as the name of a file, with an ending for its type. */
function fileNameOf(output: ListedOutput): string {
  const plain = outputTitle(output)
    .replace(/[\\/:*?"<>|\p{Cc}]+/gu, '_')
    .trim();
  const [own = ''] = /\.[a-z0-9]{1,8}$/i.exec(plain) ?? [];
  const ending = own || (endings[output.contentType?.split(';')[0]?.trim() ?? ''] ?? '.bin');
  return plain.slice(0, plain.length - own.length).slice(0, 190) + ending;
}

/** The preview of an output, over the page once it is opened. */
export function usePreview(
  output: ListedOutput,
  dimensions: readonly SessionDimension[],
): { preview: VNode | null; open: () => void } {
  const [isOpen, setIsOpen] = useState(false);
  const preview = isOpen ? (
    <PreviewLoader
      output={output}
      name={outputTitle(output)}
      dimensions={dimensions}
      onClose={() => setIsOpen(false)}
    />
  ) : null;
  return { preview, open: () => setIsOpen(true) };
}

/** Lets the browser download an output; the page shows the problem of the action. */
export async function saveOutput(output: ListedOutput, action: Action): Promise<void> {
  const address = await downloadAddress(output.id, fileNameOf(output));
  const failure = `${outputTitle(output)} could not be downloaded: the platform or its object store sent no file.`;
  downloadFrom(address, () => void action.run(() => Promise.reject(new Error(failure))));
}

/** Saves the bytes of an output; the page shows the problem of its action. `name` is heard: it tells those of one title apart. */
export function DownloadOutput(props: { output: ListedOutput; name: string; action: Action }) {
  const { output } = props;
  return (
    <DownloadButton name={props.name} action={props.action} save={() => saveOutput(output, props.action)} />
  );
}
