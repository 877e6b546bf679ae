import { useResource } from '../../hooks.ts';
import { fileTitle } from '../../names.ts';
import { readRun } from '../../runs/api.ts';
import { useFilePicker } from '../../ui/file-picker.tsx';
import { Icon } from '../../ui/icon.tsx';

/** Uploads a file in the place of another: under its identifier, so that what was made of that is made anew. */
export function ReplaceFile(props: {
  name: string;
  /** As text with an icon, else as an icon alone. */
  isFirst?: boolean;
  onFile: (file: File) => void;
}) {
  const label = `Replace ${props.name}`;
  const picker = useFilePicker({
    label: `File for ${label}`,
    onFiles: ([file]) => {
      if (file !== undefined) props.onFile(file);
    },
  });
  return (
    <>
      <button
        type="button"
        class={props.isFirst === true ? 'button button-small button-primary' : 'button button-icon'}
        aria-label={props.isFirst === true ? undefined : label}
        title={`${label} by another file`}
        onClick={picker.open}
      >
        <Icon name="upload" />
        {props.isFirst === true && <span class="replace-name">{label}</span>}
      </button>
      {picker.field}
    </>
  );
}

/** The newest uploaded file among the inputs of a failed run; nothing when there is none. */
export function ReplaceInput(props: {
  runId: string;
  /** Nodes that take uploads. */
  inputNodeIds: ReadonlySet<number>;
  onFile: (nodeInstanceId: number, file: File, identifier: string) => void;
}) {
  const run = useResource(props.runId, (signal) => readRun(props.runId, signal));
  const uploaded = run.data?.inputs.filter((input) => props.inputNodeIds.has(input.nodeInstanceId)).at(-1);
  if (uploaded === undefined) return null;
  const { nodeInstanceId, outputIdentifier } = uploaded;
  return (
    <ReplaceFile
      name={fileTitle(uploaded.fileName, uploaded)}
      isFirst
      onFile={(file) => props.onFile(nodeInstanceId, file, outputIdentifier)}
    />
  );
}
