import { type ComponentChildren, Fragment } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { deleteSession, retryFailed, type SessionListRow, setFrozen } from '../api.ts';
import { compareDashboards, maxDashboards } from '../compare/address.ts';
import { formatBytes, plural } from '../format.ts';
import { textOf } from '../http.ts';
import { usePageActions } from '../palette/page-actions.ts';
import { useAbilities } from '../role.ts';
import { navigate } from '../router.ts';
import { saveAnswer } from '../save.ts';
import { Confirm } from '../ui/dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { Notice } from '../ui/notice.tsx';
import { csvOf } from './list-model.ts';
import { useListKeys } from './row-keys.ts';

/** What became of an action on several sessions. */
interface Result {
  readonly done: string;
  readonly problems: readonly ComponentChildren[];
}

/** Does it to one session after the other; what is refused is shown with the name of its session. */
type Each = (
  chosen: readonly SessionListRow[],
  work: (session: SessionListRow) => Promise<unknown>,
  words: string,
) => Promise<void>;

/** What can be done with the chosen sessions, and what became of it. */
export function ChosenSessions(props: {
  sessions: readonly SessionListRow[];
  changed: () => void;
  clear: () => void;
}) {
  const { sessions } = props;
  const [question, setQuestion] = useState<Question | null>(null);
  const ask = (what: Question['what'], of: Question['of']) => setQuestion({ what, of });
  const { busy, result, each, forget } = useEach(() => {
    props.clear();
    props.changed();
  });
  const isChosen = sessions.length > 0;
  // What became of others is old news.
  useEffect(() => {
    if (isChosen) forget();
  }, [isChosen]);
  return (
    <>
      {sessions.length > 0 && (
        <ChosenBar sessions={sessions} busy={busy} each={each} ask={ask} clear={props.clear} />
      )}
      {result !== null && sessions.length === 0 && result.problems.length === 0 && (
        <span class="chosen-result" role="status">
          <Icon name="check" />
          {result.done}
        </span>
      )}
      {result !== null && sessions.length === 0 && result.problems.length > 0 && (
        <Notice tone="error">
          {result.done} {result.problems.slice(0, 3)}
        </Notice>
      )}
      {question !== null && <Ask {...question} each={each} onClose={() => setQuestion(null)} />}
    </>
  );
}

/** What is asked about before it is done, and of which sessions. */
interface Question {
  readonly what: 'freeze' | 'delete';
  readonly of: readonly SessionListRow[];
}

function Ask({ what, of, each, onClose }: Question & { each: Each; onClose: () => void }) {
  const count = plural(of.length, 'session', 'sessions');
  if (what === 'freeze')
    return (
      <Confirm
        title={`Freeze ${count}`}
        verb="Freeze"
        act={() => each(of, ({ id }) => setFrozen(id, true), 'frozen')}
        onClose={onClose}
      >
        <p>
          <Names of={of} /> {of.length === 1 ? 'accepts' : 'accept'} no uploads and{' '}
          {of.length === 1 ? 'starts' : 'start'} no runs until unfrozen. Nothing is lost.
        </p>
      </Confirm>
    );
  const bytes = of.reduce((sum, { outputBytes }) => sum + outputBytes, 0);
  return (
    <Confirm
      title={`Delete ${count}`}
      verb="Delete"
      act={() => each(of, ({ id }) => deleteSession(id), 'deleted')}
      onClose={onClose}
    >
      <p>
        <Names of={of} /> {of.length === 1 ? 'is' : 'are'} deleted with all outputs
        {bytes > 0 && ` (${formatBytes(bytes)})`}, dashboards and logs. This cannot be undone.
      </p>
    </Confirm>
  );
}

function useEach(ended: () => void) {
  const [busy, setBusy] = useState(false);
  const [result, setResult] = useState<Result | null>(null);
  const each: Each = async (chosen, work, words) => {
    if (busy) return;
    setBusy(true);
    const problems: ComponentChildren[] = [];
    for (const session of chosen)
      await work(session).catch((error) =>
        problems.push(
          <Fragment key={session.id}>
            <bdi>{session.name}</bdi>: {textOf(error)}{' '}
          </Fragment>,
        ),
      );
    setBusy(false);
    setResult({
      done: `${plural(chosen.length - problems.length, 'session', 'sessions')} ${words}.`,
      problems,
    });
    ended();
  };
  return { busy, result, each, forget: () => setResult(null) };
}

function ChosenBar(props: {
  sessions: readonly SessionListRow[];
  busy: boolean;
  each: Each;
  ask: (what: Question['what'], of: Question['of']) => void;
  clear: () => void;
}) {
  const { sessions, busy, each, ask } = props;
  const { operate, freeze, administrate } = useAbilities();
  const failed = sessions.filter(({ state }) => state === 'failed');
  const compared = sessions.flatMap(({ dashboardUrl }) => dashboardOf(dashboardUrl)).slice(0, maxDashboards);
  const thawed = sessions.filter(({ frozen }) => !frozen);
  useCompareKeys(compared);
  return (
    <div class="chosen-bar" role="toolbar" aria-label="Chosen sessions">
      <strong>{plural(sessions.length, 'session', 'sessions')} chosen</strong>
      {compared.length > 1 && (
        <a class="button button-small" href={compareDashboards(compared)}>
          <Icon name="chart" />
          Compare
        </a>
      )}
      {operate && failed.length > 0 && (
        <Act busy={busy} onClick={() => void each(failed, ({ id }) => retryFailed(id), 'retried')}>
          <Icon name="reset" />
          Retry failed
        </Act>
      )}
      {freeze && thawed.length > 0 && (
        <Act busy={busy} onClick={() => ask('freeze', thawed)}>
          <Icon name="freeze" />
          Freeze
        </Act>
      )}
      <Act onClick={() => void exportCsv(sessions)}>
        <Icon name="download" />
        Export
      </Act>
      {administrate && (
        <Act busy={busy} style="button-danger-quiet" onClick={() => ask('delete', sessions)}>
          Delete
        </Act>
      )}
      <Act style="button-quiet" onClick={props.clear}>
        Choose none
      </Act>
    </div>
  );
}

/** From the rows the bar is many steps of Tab away. */
function useCompareKeys(dashboards: readonly number[]): void {
  const compare = dashboards.length > 1 ? () => navigate(compareDashboards(dashboards)) : undefined;
  usePageActions(compare === undefined ? [] : [{ label: 'Compare the chosen sessions', act: compare }]);
  useListKeys((key) => {
    if (key === 'c') compare?.();
  });
}

function Act(props: { busy?: boolean; style?: string; onClick: () => void; children: ComponentChildren }) {
  return (
    <button
      type="button"
      class={props.style === undefined ? 'button button-small' : `button button-small ${props.style}`}
      aria-disabled={props.busy}
      onClick={() => props.busy === true || props.onClick()}
    >
      {props.children}
    </button>
  );
}

/** The id at the end of a dashboard's address. */
const dashboardOf = (url: string | null) =>
  url === null ? [] : [Number(url.slice(url.lastIndexOf('/') + 1))];

const maxNames = 3;

function Names({ of: sessions }: { of: readonly SessionListRow[] }) {
  const more = sessions.length - maxNames;
  return (
    <>
      {sessions.slice(0, maxNames).map(({ id, name }, index) => (
        <Fragment key={id}>
          {index > 0 && ', '}“<bdi>{name}</bdi>”
        </Fragment>
      ))}
      {more > 0 && ` and ${more} more`}
    </>
  );
}

function exportCsv(sessions: readonly SessionListRow[]): Promise<void> {
  return saveAnswer(
    new Response(csvOf(sessions), { headers: { 'content-type': 'text/csv' } }),
    () => 'sessions.csv',
  );
}
