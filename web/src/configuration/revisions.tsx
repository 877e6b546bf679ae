import { useAuth, useResource } from '../hooks.ts';
import { listRevisions, type NodeConfiguration } from '../runs/api.ts';
import { Ago } from '../ui/ago.tsx';
import { Failure } from '../ui/notice.tsx';

/** The configurations that a node had; one can be put into the form. */
export function Revisions(props: {
  nodeInstanceId: number;
  present: number;
  use: ((configuration: NodeConfiguration['configuration']) => void) | null;
}) {
  const ownId = useAuth().signIn?.user.userId;
  const list = useResource(`${props.nodeInstanceId}:${props.present}`, (signal) =>
    listRevisions(props.nodeInstanceId, signal),
  );
  const revisions = list.data?.revisions ?? [];
  if (list.error !== null) {
    return <Failure what="The revisions could not be read." error={list.error} retry={list.reload} />;
  }
  if (revisions.length < 2) return null;
  const { use } = props;
  return (
    <details>
      <summary>Revisions</summary>
      <ol class="revisions" aria-label="Revisions">
        {revisions.map(({ revision, configuration, changedBy, changedByName, changedAt }) => (
          <li key={revision}>
            <div class="panel-line">
              <span>
                <strong>Revision {revision}</strong>, <Ago at={changedAt} />,{' '}
                {changedBy === null ? (
                  'from the template'
                ) : (
                  <span title={changedBy}>
                    by {changedBy === ownId ? 'you' : (changedByName ?? 'a person you may not see')}
                  </span>
                )}
              </span>
              {use !== null && revision !== props.present && (
                <button
                  type="button"
                  class="link-button"
                  aria-label={`Put revision ${revision} into the form`}
                  onClick={() => use(configuration)}
                >
                  Use
                </button>
              )}
            </div>
            <pre class="code-block">{JSON.stringify(configuration, null, 1)}</pre>
          </li>
        ))}
      </ol>
    </details>
  );
}
