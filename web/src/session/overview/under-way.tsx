import type { NodeInstanceProgress } from '../../api.ts';
import { plural } from '../../format.ts';
import { titleOf } from '../../names.ts';
import { StateBadge } from '../../ui/state-badge.tsx';
import { tabAddress } from '../tabs/address.ts';
import { useWhy } from '../why.ts';

const shownNodes = 4;

/** What the session does now, or what it waits for: running nodes first. */
export function UnderWay(props: {
  sessionId: string;
  /** Those that run or wait. */
  open: readonly NodeInstanceProgress[];
  /** All of the session. */
  nodes: readonly NodeInstanceProgress[];
  round: number;
}) {
  const { open, sessionId } = props;
  const ordered = open.toSorted(
    (a, b) => Number(b.state === 'Processing') - Number(a.state === 'Processing'),
  );
  const more = open.length - shownNodes;
  return (
    <section class="card" aria-label="Under way">
      <ul class="under-way">
        {ordered.slice(0, shownNodes).map((node) => (
          <li key={node.id}>
            <StateBadge state={node.state} />
            <p>
              <a href={tabAddress(sessionId, 'pipeline', node.id)}>{titleOf(node.name)}</a>{' '}
              <Reason node={node} nodes={props.nodes} round={props.round} />
            </p>
          </li>
        ))}
      </ul>
      {more > 0 && (
        <a class="faint" href={tabAddress(sessionId, 'pipeline')}>
          {plural(more, 'more node', 'more nodes')}
        </a>
      )}
    </section>
  );
}

function Reason(props: {
  node: NodeInstanceProgress;
  nodes: readonly NodeInstanceProgress[];
  round: number;
}) {
  return <span class="faint">{useWhy(props.node, props.nodes, props.round)}</span>;
}
