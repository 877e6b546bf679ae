import type { ComponentChildren } from 'preact';
import { Dialog } from '../ui/dialog.tsx';
import { CopyText } from '../ui/form.tsx';
import { Notice } from '../ui/notice.tsx';

/** A secret that was just made. It is shown nowhere else and is gone when the window is closed. */
export function NewSecret(props: {
  title: string;
  value: string;
  onClose: () => void;
  children?: ComponentChildren;
}) {
  return (
    <Dialog title={props.title} stays onClose={props.onClose}>
      <div class="form">
        <Notice tone="info">Copy it now. It is shown only once.</Notice>
        <CopyText label="The value" text={props.value} />
        {props.children !== undefined && <div>{props.children}</div>}
        <div class="form-end">
          <button type="button" class="button button-primary" onClick={props.onClose}>
            I have copied it
          </button>
        </div>
      </div>
    </Dialog>
  );
}
