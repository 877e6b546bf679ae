import type { LayoutHead } from '../../api.ts';
import { Confirm } from '../../ui/dialog.tsx';

/** Asks before a saved layout is deleted, which others may use. */
export function DeleteLayout(props: { head: LayoutHead; remove: () => Promise<void>; onClose: () => void }) {
  const { name, scope } = props.head;
  return (
    <Confirm
      title={
        <>
          Delete <bdi>{name}</bdi>?
        </>
      }
      verb="Delete the layout"
      act={props.remove}
      onClose={props.onClose}
    >
      {scope === 'mine' ? 'Only you see it.' : 'Others open dashboards with it.'} Recordings and annotations
      stay. This cannot be undone.
    </Confirm>
  );
}
