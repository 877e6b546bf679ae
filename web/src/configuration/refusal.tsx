import type { ApiError } from '../../../client/errors.ts';
import { plural } from '../format.ts';
import { textOf } from '../http.ts';
import { Notice } from '../ui/notice.tsx';

/** Why a configuration was not saved, beside what its fields say. */
export function Refusal(props: { refusal: ApiError; fields: number; reload: () => void }) {
  const { fields } = props;
  if (fields > 0)
    return (
      <Notice tone="error">
        {plural(fields, 'field needs', 'fields need')} correction. Nothing was saved.
      </Notice>
    );
  if (props.refusal.status !== 412) return <Notice tone="error">{textOf(props.refusal)}</Notice>;
  return <Overtaken reload={props.reload} />;
}

/** What was typed changes an earlier revision than the present one. */
export function Overtaken(props: { reload: () => void }) {
  return (
    <Notice
      tone="error"
      action={
        <button type="button" class="button button-small" onClick={props.reload}>
          Reload
        </button>
      }
    >
      Another person changed it. Reload to see the change; what you typed is then lost.
    </Notice>
  );
}
