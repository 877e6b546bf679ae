import type { ComponentType } from 'preact';
import { useState } from 'preact/hooks';
import { useEvery, useResource, useTitle } from '../hooks.ts';
import { isMissing, isOutage } from '../http.ts';
import { useAbilities } from '../role.ts';
import { navigate, useAddress } from '../router.ts';
import { type Followed, useSessionEvents } from '../session/follow.ts';
import { SessionHead } from '../session/head.tsx';
import { readShownSession } from '../session/shown-session.ts';
import { readTab, type SessionTab, tabAddress } from '../session/tabs/address.ts';
import type { TabProps } from '../session/tabs/props.ts';
import { DropOverlay } from '../session/upload/drop-overlay.tsx';
import { UploadList } from '../session/upload/upload-list.tsx';
import { useSessionUploads } from '../session/upload/uploads.ts';
import { isUnderWay } from '../states.ts';
import { lazy } from '../ui/lazy.tsx';
import { Empty, Failure, Notice, Placeholder } from '../ui/notice.tsx';
import { Tabs } from '../ui/tabs.tsx';
import '../styles/session/session-page.css';

/** One session. Its tab and the chosen node are in the address. */
export function SessionPageView(props: { sessionId: string }) {
  const { sessionId } = props;
  const { readRuns } = useAbilities();
  const { session, followed, failure, reload, retry } = useSession(sessionId);
  const tab = readTab(useAddress().query, readRuns);
  const uploads = useSessionUploads(followed);
  const [adoptions, setAdoptions] = useState(0);
  if (followed.deleted || isMissing(failure)) return <Gone deleted={followed.deleted} />;
  return (
    <div class="page page-session">
      <SessionHead
        session={session}
        sessionId={sessionId}
        reload={reload}
        followed={followed}
        tab={tab}
        upload={uploads.refusal === null ? uploads.upload : null}
      />
      {failure !== null && <Failure what="The session could not be read." error={failure} retry={retry} />}
      {session?.templateChanged === true && !session.frozen && readRuns && (
        <NewerTemplate
          session={session}
          changed={() => {
            setAdoptions((count) => count + 1);
            reload();
          }}
        />
      )}
      {uploads.message !== '' && <Notice tone="info">{uploads.message}</Notice>}
      <UploadList uploads={uploads.list} />
      {followed.nodes !== null && session !== null ? (
        <Tabs
          label="Parts of the session"
          tabs={tabs.filter(({ id }) => id !== 'logs' || readRuns)}
          chosen={tab}
          onChoose={(id) => navigate(tabAddress(sessionId, id))}
        >
          <Part tab={tab} adoptions={adoptions} {...{ session, reload, followed, uploads }} />
        </Tabs>
      ) : (
        failure === null && <Placeholder rows={4} label="Loading the session" />
      )}
      <DropOverlay refusal={uploads.refusal} onFiles={uploads.upload} />
    </div>
  );
}

/** Its name, priority, metadata and the version of its template change without a live event. */
const readEveryMs = 15_000;

/** A session and its nodes, which are followed, with one failure for both. */
function useSession(sessionId: string) {
  const { listSessions } = useAbilities();
  const followed = useSessionEvents(sessionId);
  const session = useResource(sessionId, (signal) => readShownSession(sessionId, listSessions, signal), {
    version: versionOf(followed),
  });
  useTitle(session.data?.name ?? 'Session');
  useEvery(readEveryMs, session.data !== null && !followed.deleted, session.reload);
  // What was read stays in an outage, and the head says that the connection is lost.
  const unread = session.data !== null && isOutage(session.error) ? null : session.error;
  return {
    session: session.data,
    followed,
    failure: followed.error ?? unread,
    reload: session.reload,
    retry: () => {
      session.reload();
      followed.retry();
    },
  };
}

const tabs: readonly { id: SessionTab; label: string }[] = [
  { id: 'overview', label: 'Overview' },
  { id: 'pipeline', label: 'Pipeline' },
  { id: 'files', label: 'Files' },
  { id: 'logs', label: 'Logs' },
];

const loading = { rows: 4, label: 'Loading' };
/** The code of each part is fetched when it is opened. */
const parts: Readonly<Record<SessionTab, ComponentType<TabProps>>> = {
  overview: lazy(() => import('../session/overview/overview.tsx').then(({ Overview }) => Overview), loading),
  pipeline: lazy(() => import('../session/pipeline.tsx').then(({ Pipeline }) => Pipeline), loading),
  files: lazy(() => import('../session/tabs/files.tsx').then(({ Files }) => Files), loading),
  logs: lazy(() => import('../session/tabs/logs.tsx').then(({ Logs }) => Logs), loading),
};

const NewerTemplate = lazy(
  () => import('../session/adopt-template.tsx').then((module) => module.NewerTemplate),
  null,
);

function Part(props: TabProps & { tab: SessionTab; adoptions: number }) {
  const { tab, adoptions, ...shown } = props;
  const View = parts[tab];
  // The nodes have other configurations after an adoption.
  return <View key={`${tab} ${adoptions}`} {...shown} />;
}

function Gone({ deleted }: { deleted: boolean }) {
  const { listSessions } = useAbilities();
  const also = listSessions ? '' : ', or you do not take part in it';
  return (
    <Empty isPage title={deleted ? 'This session has been deleted' : 'Session not found'}>
      <p>
        {deleted ? '' : `It may have been deleted${also}. Check the address. `}
        <a href="/">Sessions</a>
      </p>
    </Empty>
  );
}

/** A dashboard appears when a node ends, so the session is read again then, and when a participant joins or closes it. */
function versionOf({ nodes, window }: Followed): string | undefined {
  const ended = nodes?.map((node) => `${node.id}:${node.currentOutputId}:${isUnderWay(node.state)}`);
  return ended && `${ended.join(' ')} ${JSON.stringify(window)}`;
}
