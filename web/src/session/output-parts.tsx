import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { ListedOutput, SessionDimension } from '../api.ts';
import { readOutputData } from '../api.ts';
import type { Action } from '../hooks.ts';
import { outputTitle } from '../names.ts';
import { saveAnswer } from '../save.ts';
import { DownloadButton } from '../ui/download-button.tsx';
import { lazy } from '../ui/lazy.tsx';

/** The code for tables and charts is fetched when a preview is opened. */
const PreviewLoader = lazy(() => import('../preview/preview.tsx').then((module) => module.OutputPreview), {
  rows: 1,
  label: 'Loading',
});

/** The name with an ending for the type that the platform sends. */
export function fileNameOf(name: string): (response: Response) => string {
  const plain = name.replace(/[\\/:*?"<>|]+/g, '_');
  const endings: Record<string, string> = {
    'text/csv': '.csv',
    'text/tab-separated-values': '.tsv',
    'application/json': '.json',
    'application/x-ndjson': '.ndjson',
    'application/vnd.apache.parquet': '.parquet',
    'text/plain': '.txt',
  };
  return (response) => {
    if (/\.[a-z0-9]{1,8}$/i.test(plain)) return plain;
    const contentType = response.headers.get('Content-Type') ?? '';
    return plain + (endings[contentType.split(';')[0]?.trim() ?? ''] ?? '.bin');
  };
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

/** Saves the bytes of an output; the page shows the problem of its action. */
export function DownloadOutput(props: { output: ListedOutput; action: Action }) {
  const { output } = props;
  const name = outputTitle(output);
  return (
    <DownloadButton
      name={name}
      action={props.action}
      save={async () => saveAnswer(await readOutputData(output.id), fileNameOf(name))}
    />
  );
}
