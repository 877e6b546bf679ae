import type { SessionDetails, SessionWindowEvent } from '../api.ts';
import { plural } from '../format.ts';
import { titleOf, withoutCategory } from '../names.ts';
import { usePageActions } from '../palette/page-actions.ts';
import { useAbilities } from '../role.ts';
import { navigate } from '../router.ts';
import { Ago } from '../ui/ago.tsx';
import { ShortId } from '../ui/copy-button.tsx';
import { useFilePicker } from '../ui/file-picker.tsx';
import { Icon } from '../ui/icon.tsx';
import { StateBadge } from '../ui/state-badge.tsx';
import { SessionActions } from './actions.tsx';
import type { Followed } from './follow.ts';
import { closeWords, type SessionSummary, summaryOf, summaryWords } from './summary.ts';
import { type SessionTab, tabAddress } from './tabs/address.ts';

/** What the session is, how far it is, and what one does with it first. */
export function SessionHead(props: {
  session: SessionDetails | null;
  sessionId: string;
  reload: () => void;
  followed: Followed;
  tab: SessionTab;
  /** Null where no file may be uploaded. */
  upload: ((files: File[]) => void) | null;
}) {
  const { session, followed, sessionId } = props;
  const { readRuns } = useAbilities();
  const newest = session?.dimensions.at(-1);
  usePageActions([
    ...(newest === undefined
      ? []
      : [{ label: 'Open dashboard', act: () => navigate(`/dashboards/${newest.id}`) }]),
    { label: 'Show the overview', act: () => navigate(tabAddress(sessionId, 'overview')) },
    { label: 'Show the pipeline', act: () => navigate(tabAddress(sessionId, 'pipeline')) },
    { label: 'Show the files', act: () => navigate(tabAddress(sessionId, 'files')) },
    ...(readRuns ? [{ label: 'Show the logs', act: () => navigate(tabAddress(sessionId, 'logs')) }] : []),
  ]);
  return (
    <header class="session-head">
      <nav class="crumbs" aria-label="Path">
        <a href="/sessions">Sessions</a>
      </nav>
      <div class="page-head">
        <h1>{session?.name ?? 'Session'}</h1>
        <div class="actions session-first">
          {newest !== undefined && <DashboardLink dimensionId={newest.id} />}
          {props.upload !== null && <UploadButton isFirst={newest === undefined} upload={props.upload} />}
          {followed.nodes !== null && (
            <SessionActions
              sessionId={sessionId}
              session={session}
              followed={followed}
              reload={props.reload}
            />
          )}
        </div>
      </div>
      {followed.nodes !== null && <State {...props} summary={summaryOf(followed.nodes)} />}
      {session !== null && <SessionFacts session={session} />}
    </header>
  );
}

/** The newest dashboard; the others are in the overview. */
function DashboardLink({ dimensionId }: { dimensionId: number }) {
  return (
    <a class="button button-small button-primary" href={`/dashboards/${dimensionId}`}>
      <Icon name="chart" />
      Open dashboard
    </a>
  );
}

function UploadButton(props: { isFirst: boolean; upload: (files: File[]) => void }) {
  const picker = useFilePicker({
    label: 'Files to upload to the session',
    multiple: true,
    onFiles: props.upload,
  });
  return (
    <>
      <button
        type="button"
        class={`button button-small${props.isFirst ? ' button-primary' : ''}`}
        onClick={picker.open}
      >
        <Icon name="upload" />
        Upload
      </button>
      {picker.field}
    </>
  );
}

/** The session's project and related objects, with links that the person may follow. */
function SessionFacts({ session }: { session: SessionDetails }) {
  const { listSessions } = useAbilities();
  const { project, sessionTemplate, simulationName, owner } = session;
  return (
    <p class="faint meta">
      <span>
        {listSessions ? (
          <a href={`/sessions?project=${session.projectId}`} title="Sessions of this project">
            {project.title}
          </a>
        ) : (
          project.title
        )}
      </span>
      <span title={sessionTemplate.name}>
        {listSessions ? (
          <a href={`/templates/${session.sessionTemplateId}`}>{titleOf(sessionTemplate.name)}</a>
        ) : (
          titleOf(sessionTemplate.name)
        )}
      </span>
      {simulationName !== null && simulationName !== '' && <span>{simulationName}</span>}
      <span>
        created <Ago at={session.createdAt} />
        {owner.name !== null && ` by ${owner.name}`}
      </span>
      <ShortId id={session.id} of="session" />
    </p>
  );
}

/** `Failed 4 of 5 done, 1 failed: Read table: Line 4 has no time. Show the node`, and whether that is current. */
function State(props: { sessionId: string; summary: SessionSummary; followed: Followed; tab: SessionTab }) {
  const { summary, followed } = props;
  const { window, connection } = followed;
  const { operate } = useAbilities();
  const first = summary.failed[0];
  return (
    <>
      <div class="summary" role="status" aria-label="State of the session">
        {window?.frozen === true && (
          <span class="badge state-paused">
            <Icon name="freeze" />
            <span>Frozen</span>
          </span>
        )}
        {window?.status === 'closed' && <Closed window={window} />}
        <StateBadge state={summary.state} />
        <span class="summary-words">{summaryWords(summary)}</span>
        {summary.running.length > 0 && (
          <progress
            class="session-progress"
            aria-label="Nodes that are done"
            max={summary.total}
            value={summary.done}
          />
        )}
        {connection === 'live' && <span class="live">live</span>}
        {connection === 'lost' && <span class="live live-lost">connection lost, reconnecting</span>}
      </div>
      {first !== undefined && props.tab !== 'pipeline' && (
        <p class="session-failure">
          <strong>{titleOf(first.name)}</strong> failed:{' '}
          <span>{beginningOf(withoutCategory(first.statusDetails))}</span>{' '}
          <a href={tabAddress(props.sessionId, 'pipeline', first.id)}>
            {operate && window?.frozen !== true ? 'Fix and run again' : 'Show the failed node'}
          </a>{' '}
          {summary.failed.length > 1 && (
            <span>({plural(summary.failed.length - 1, 'other node', 'other nodes')} failed too)</span>
          )}
        </p>
      )}
    </>
  );
}

/** Reasons may be as long as the output of a solver; the node has all of it. */
const maxLetters = 400;

function beginningOf(reason: string): string {
  const letters = [...reason];
  return letters.length <= maxLetters ? reason : `${letters.slice(0, maxLetters).join('')} …`;
}

function Closed(props: { window: SessionWindowEvent }) {
  const { badge, text } = closeWords(props.window, Date.now());
  return (
    <>
      <span class="badge state-idle">{badge}</span>
      <span class="faint">{text}</span>
    </>
  );
}
