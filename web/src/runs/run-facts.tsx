import { useState } from 'preact/hooks';
import { readOutputData } from '../api.ts';
import { formatBytes, plural } from '../format.ts';
import { useAction } from '../hooks.ts';
import { fileTitle, titleOf } from '../names.ts';
import { attachmentName, saveAnswer } from '../save.ts';
import { Ago } from '../ui/ago.tsx';
import { DownloadButton } from '../ui/download-button.tsx';
import { Notice } from '../ui/notice.tsx';
import type { NodeRunDetails } from './api.ts';
import { writtenName } from './run-words.ts';

const shownFiles = 20;

/** What a run was given, what it wrote, its configuration, and who acted on it. */
export function RunFacts({ run }: { run: NodeRunDetails }) {
  const configuration = JSON.stringify(run.configuration, null, 2);
  const outputs = run.outputs.map((output) => ({
    ...output,
    fileName: writtenName(run, output.fileName),
    note: output.published ? '' : 'staged',
  }));
  return (
    <div class="run-facts">
      <section class="run-part" aria-label="Inputs">
        <h2>Inputs</h2>
        {run.inputsRemoved > 0 && (
          <p class="faint">
            {plural(run.inputsRemoved, 'input has', 'inputs have')} been removed or replaced since.
          </p>
        )}
        {run.inputs.length === 0 && run.inputsRemoved === 0 && (
          <p class="faint">
            {run.attempts.some(({ startedAt }) => startedAt !== null) ? 'None.' : 'Set at the first claim.'}
          </p>
        )}
        <Files
          files={run.inputs.map((input) => ({
            ...input,
            note: `from ${titleOf(input.nodeName)}, version ${input.version}`,
          }))}
        />
      </section>
      <section class="run-part" aria-label="Outputs">
        <h2>Outputs</h2>
        {run.outputs.length === 0 && <p class="faint">None.</p>}
        <Files files={outputs} />
      </section>
      <section class="run-part" aria-label="Configuration">
        <h2>
          Configuration <span class="tag">revision {run.configurationRevision}</span>
        </h2>
        {configuration === '{}' ? <p class="faint">Empty.</p> : <pre class="code-block">{configuration}</pre>}
      </section>
      <ActionsOn run={run} />
    </div>
  );
}

function ActionsOn({ run }: { run: NodeRunDetails }) {
  return (
    <section class="run-part" aria-label="Actions on the run">
      <h2>Actions</h2>
      {run.actions.length === 0 && <p class="faint">Not cancelled or retried.</p>}
      <ul hidden={run.actions.length === 0}>
        {run.actions.map(({ at, attempt, action, userId, name }) => (
          <li key={at} class="run-fact">
            {action === 'cancel' ? 'Cancelled' : 'Retried'} at attempt {attempt}, <Ago at={at} />, by{' '}
            <span title={userId}>{name ?? 'a person you may not see'}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface File {
  readonly outputId: number;
  readonly outputIdentifier: string;
  readonly fileName: string | null;
  readonly contentType: string | null;
  readonly sizeBytes: number;
  readonly sha256: string | null;
  readonly note: string;
}

function Files({ files }: { files: readonly File[] }) {
  const [all, setAll] = useState(false);
  // An empty list is heard as a list.
  if (files.length === 0) return null;
  return (
    <>
      <ul>
        {files.slice(0, all ? undefined : shownFiles).map((file) => (
          <FileItem key={file.outputId} file={file} />
        ))}
      </ul>
      {!all && files.length > shownFiles && (
        <button type="button" class="button button-small" onClick={() => setAll(true)}>
          Show all {plural(files.length, 'file', 'files')}
        </button>
      )}
    </>
  );
}

function FileItem({ file }: { file: File }) {
  const download = useAction();
  const name = fileTitle(file.fileName, file);
  const facts = [formatBytes(file.sizeBytes), file.contentType, file.note];
  return (
    <li class="output-line run-fact">
      <div class="output-text">
        <span class="output-name" title={file.outputIdentifier}>
          {name}
        </span>
        <div class="faint">
          {facts.filter(Boolean).join(' · ')}
          {file.sha256 !== null && (
            <span class="mono" title={`SHA-256 ${file.sha256}`}>
              {' '}
              · {file.sha256.slice(0, 6)}…{file.sha256.slice(-4)}
            </span>
          )}
        </div>
        {download.problem !== null && <Notice tone="error">{download.problem}</Notice>}
      </div>
      <DownloadButton
        name={name}
        title="Download its present bytes"
        action={download}
        save={async () => saveAnswer(await readOutputData(file.outputId), attachmentName)}
      />
    </li>
  );
}
