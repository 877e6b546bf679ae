import { exportCsv } from '../dashboard-api.ts';
import { useAction } from '../hooks.ts';
import { attachmentName, saveAnswer, saveBlob } from '../save.ts';
import { Icon } from '../ui/icon.tsx';
import type { TimeSpan } from './model.ts';
import { pictureOf } from './picture.ts';

/** Files of what is seen: the rows of the drawn channels, and a picture of the charts. */
export function SaveButtons(props: {
  /** Of the session. */
  name: string;
  keys: readonly string[];
  dimensionOf: (channelKey: string) => string;
  span: TimeSpan;
}) {
  const action = useAction();
  const { fromMs, toMs } = props.span;
  // A file for each dashboard: its recordings are its own.
  const csv = async () => {
    for (const [dimensionId, keys] of Map.groupBy(props.keys, props.dimensionOf))
      await saveAnswer(await exportCsv(dimensionId, keys, fromMs, toMs), attachmentName);
  };
  const png = async () => saveBlob(await pictureOf(document, props.name), `${props.name}.png`);
  const isOff = action.busy || props.keys.length === 0;
  return (
    <>
      <button
        type="button"
        class="button button-small"
        aria-disabled={isOff}
        title="Every row of the drawn channels in this time"
        onClick={() => !isOff && void action.run(csv)}
      >
        <Icon name="download" />
        Save csv
      </button>
      <button
        type="button"
        class="button button-small"
        aria-disabled={isOff}
        onClick={() => !isOff && void action.run(png)}
      >
        <Icon name="download" />
        Save PNG
      </button>
      <span role="status">{action.problem}</span>
    </>
  );
}
