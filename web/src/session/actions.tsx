import { useState } from 'preact/hooks';
import { retryFailed, setFrozen } from '../api.ts';
import { plural } from '../format.ts';
import { useAction } from '../hooks.ts';
import { useAbilities } from '../role.ts';
import { Icon } from '../ui/icon.tsx';
import { Notice } from '../ui/notice.tsx';
import type { Followed } from './follow.ts';

/** What can be done with the session as a whole. That it was done is seen by its live events. */
export function SessionActions(props: { sessionId: string; followed: Followed }) {
  const { sessionId, followed } = props;
  const { freeze, operate } = useAbilities();
  const action = useAction();
  const [said, setSaid] = useState('');
  const frozen = followed.window?.frozen === true;
  const failed = followed.nodes?.filter((node) => node.state === 'Failed').length ?? 0;
  const retryAll = async () => {
    const retried = await retryFailed(sessionId);
    setSaid(
      retried === 0 ? 'No run could be tried again.' : `${plural(retried, 'run', 'runs')} queued again.`,
    );
  };
  return (
    <div class="session-actions">
      <div class="actions">
        {operate && failed > 0 && !frozen && (
          <button
            type="button"
            class="button button-small"
            disabled={action.busy}
            onClick={() => void action.run(retryAll)}
          >
            <Icon name="reset" />
            Retry all failed
          </button>
        )}
        {freeze && followed.window !== null && (
          <button
            type="button"
            class="button button-small"
            disabled={action.busy}
            title={frozen ? 'What waited goes on' : 'No uploads, joins, reprocessing or new tasks'}
            onClick={() => void action.run(() => setFrozen(sessionId, !frozen).then(() => setSaid('')))}
          >
            <Icon name={frozen ? 'play' : 'freeze'} />
            {frozen ? 'Unfreeze' : 'Freeze'}
          </button>
        )}
      </div>
      <p class="faint" role="status">
        {said}
      </p>
      {action.problem !== null && <Notice tone="error">{action.problem}</Notice>}
    </div>
  );
}
