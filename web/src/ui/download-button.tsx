import type { useAction } from '../hooks.ts';
import { Icon } from './icon.tsx';

/** Saves a file; the page shows the problem of its action. */
export function DownloadButton(props: {
  name: string;
  title?: string;
  action: ReturnType<typeof useAction>;
  save: () => Promise<void>;
}) {
  const { name, action } = props;
  return (
    <button
      type="button"
      class="button button-icon"
      aria-label={`Download ${name}`}
      title={props.title ?? 'Download'}
      aria-disabled={action.busy}
      onClick={() => void action.run(props.save)}
    >
      <Icon name={action.busy ? 'spinner' : 'download'} />
    </button>
  );
}
