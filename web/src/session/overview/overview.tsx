import { useEffect, useState } from 'preact/hooks';
import type {
  ListedOutput,
  NodeInstanceProgress,
  Session,
  SessionDetails,
  SessionOutputs,
} from '../../api.ts';
import { formatBytes, plural } from '../../format.ts';
import { useResource } from '../../hooks.ts';
import { outputTitle, titleOf } from '../../names.ts';
import { useAbilities } from '../../role.ts';
import { sharedWindow } from '../../shared/model.ts';
import { isUnderWay } from '../../states.ts';
import { Ago } from '../../ui/ago.tsx';
import { Icon } from '../../ui/icon.tsx';
import { lazy } from '../../ui/lazy.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Empty, Notice } from '../../ui/notice.tsx';
import { MetadataEditor } from '../metadata-editor.tsx';
import { outputsAtAGlance, outputVersion } from '../session-outputs.tsx';
import { tabAddress } from '../tabs/address.ts';
import type { TabProps } from '../tabs/props.ts';
import { Activity } from './activity.tsx';
import { newestDocuments, readFigures } from './documents.ts';
import { distinct, figuresOfRecordings, remarksOf } from './figures.ts';
import { Thumbnails } from './thumbnails.tsx';
import '../../styles/session/overview.css';

const shownFiles = 6;

/** What came out of the session, what it is about, and who did what. */
export function Overview({ session, reload, followed, uploads }: TabProps) {
  const nodes = followed.nodes ?? [];
  const outputs = useResource('outputs', (signal) => outputsAtAGlance(session.id, signal), {
    version: outputVersion(nodes),
  });
  const newest = session.dimensions.at(-1);
  const isShared = sharedWindow(session) !== null;
  return (
    <div class="overview">
      <div class="overview-main">
        <OpenNodes sessionId={session.id} nodes={nodes} round={followed.round} />
        <Rejected sessionId={session.id} nodes={nodes} />
        <Loaded of={outputs} failure="The files could not be read." rows={2} label="Loading the overview">
          {({ outputs: files }) => (
            <>
              {files.length === 0 && <Beginning refusal={uploads.refusal} />}
              <Figures outputs={files} nodes={nodes} />
              <Remarks outputs={files} />
            </>
          )}
        </Loaded>
        {newest !== undefined && (
          <Thumbnails
            key={newest.id}
            dimension={newest}
            version={String(nodes.find(({ id }) => id === newest.nodeInstanceId)?.currentOutputId)}
          />
        )}
        {session.hidesDashboards && (
          <p class="faint">Only people who take part in the session see its dashboard.</p>
        )}
        <Dashboards session={session} />
        {outputs.data !== null && outputs.data.totalCount > 0 && (
          <NewestFiles session={session} found={outputs.data} nodes={nodes} />
        )}
      </div>
      <Side session={session} reload={reload} followed={followed} />
      {isShared && <WindowLoader session={session} />}
    </div>
  );
}

/** Most nodes take a moment: what they do would come and go. */
const shownAfterMs = 2000;

/** A session that takes long says why: which node runs and how far it is, or what it waits for. */
function OpenNodes(props: { sessionId: string; nodes: readonly NodeInstanceProgress[]; round: number }) {
  const open = props.nodes.filter(({ state }) => isUnderWay(state));
  const isOpen = open.length > 0;
  const [takesLong, setTakesLong] = useState(false);
  useEffect(() => {
    setTakesLong(false);
    if (!isOpen) return;
    const timer = setTimeout(() => setTakesLong(true), shownAfterMs);
    return () => clearTimeout(timer);
  }, [isOpen]);
  return isOpen && takesLong ? <UnderWay {...props} open={open} /> : null;
}

const UnderWay = lazy(() => import('./under-way.tsx').then((module) => module.UnderWay), null);

function Side({ session, reload, followed }: Pick<TabProps, 'session' | 'reload' | 'followed'>) {
  const { listSessions } = useAbilities();
  return (
    <div class="overview-side">
      <div class="card">
        <MetadataEditor session={session} canEdit={listSessions} saved={reload} />
      </div>
      {listSessions && (
        <section class="card" aria-label="Activity of the session">
          <h2>Activity</h2>
          <Activity sessionId={session.id} nodes={followed.nodes ?? []} round={followed.round} />
        </section>
      )}
    </div>
  );
}

function Beginning({ refusal }: { refusal: string | null }) {
  return (
    <Empty title="No files yet">
      <p>{refusal ?? 'Drop a recording anywhere on this page.'}</p>
    </Empty>
  );
}

/** The numbers of the newest small JSON document of each node, and those of the recordings. */
function Figures(props: { outputs: readonly ListedOutput[]; nodes: readonly NodeInstanceProgress[] }) {
  const documents = newestDocuments(props.outputs);
  const found = useResource(
    documents.map(({ id, sha256 }) => `${id}:${sha256}`).join(' '),
    (signal) => readFigures(documents, signal),
    { keepWhileLoading: true },
  );
  const figures = distinct([...(found.data ?? []), ...figuresOfRecordings(props.outputs)], (nodeId) =>
    titleOf(props.nodes.find(({ id }) => id === nodeId)?.name ?? ''),
  );
  if (figures.length === 0) return null;
  return (
    <dl class="figures" aria-label="Key figures">
      {figures.slice(0, 16).map(({ label, value, unit, note = '' }) => (
        <div key={`${label} ${value}`}>
          <dt title={label}>{label}</dt>
          <dd>
            {value} <span class="unit">{unit || note}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** A node that put inputs aside is done, and may have made nothing of a recording. */
function Rejected(props: { sessionId: string; nodes: readonly NodeInstanceProgress[] }) {
  const rejecting = props.nodes.filter(({ rejectedInputs }) => rejectedInputs > 0);
  if (rejecting.length === 0) return null;
  return (
    <Notice tone="info">
      {rejecting.slice(0, shownRemarks).map(({ id, name, rejectedInputs }) => (
        <div key={id}>
          <strong>{titleOf(name)}</strong> rejected {plural(rejectedInputs, 'input', 'inputs')}.{' '}
          <a href={tabAddress(props.sessionId, 'pipeline', id)}>Show the reasons</a>
        </div>
      ))}
    </Notice>
  );
}

const shownRemarks = 4;

/** What the conversion of the recordings remarked: else a chart may be read for what it is not. */
function Remarks({ outputs }: { outputs: readonly ListedOutput[] }) {
  const remarks = remarksOf(outputs);
  if (remarks.length === 0) return null;
  const more = remarks.length - shownRemarks;
  return (
    <Notice tone="info">
      <ul class="remarks" aria-label="Remarks about the recordings">
        {remarks.slice(0, shownRemarks).map(({ text, files: [first, ...others] }) => (
          <li key={text}>
            <span class="wrap-anywhere">{first}</span>
            {others.length > 0 && ` and ${plural(others.length, 'other file', 'other files')}`}: {text}
          </li>
        ))}
        {more > 0 && <li>{plural(more, 'more remark is', 'more remarks are')} in the logs of the runs.</li>}
      </ul>
    </Notice>
  );
}

function Dashboards({ session }: { session: Session }) {
  const { dimensions } = session;
  if (dimensions.length < 2) return null;
  return (
    <section class="dashboard-links" aria-label="Dashboards">
      {dimensions.map(({ id, name, dashboardName }) => (
        <a key={id} class="dashboard-link" href={`/dashboards/${id}`}>
          <Icon name="chart" />
          <span class="dashboard-link-name">{name || dashboardName || session.name}</span>
          <Icon name="right" />
        </a>
      ))}
    </section>
  );
}

function NewestFiles(props: {
  session: SessionDetails;
  found: SessionOutputs;
  nodes: readonly NodeInstanceProgress[];
}) {
  const { session, found } = props;
  const { outputs, totalCount, totalCountIsExact } = found;
  const isWhole = found.nextCursor === null;
  const bytes = isWhole ? outputs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) : session.outputBytes;
  const count = plural(totalCount, 'file', 'files');
  const shown = outputs.slice(0, shownFiles);
  // Outputs without a name of their own are named by their nodes.
  const isRepeated = (one: ListedOutput) =>
    shown.some((other) => other !== one && outputTitle(other) === outputTitle(one));
  const nodeOf = ({ nodeInstanceId }: ListedOutput) =>
    titleOf(props.nodes.find(({ id }) => id === nodeInstanceId)?.name ?? '');
  return (
    <section class="card" aria-label="Newest files">
      <div class="panel-line">
        <h2>Files</h2>
        <a class="faint" href={tabAddress(session.id, 'files')}>
          {totalCountIsExact ? `${totalCount === 1 ? '' : 'All '}${count}` : `More than ${count}`},{' '}
          {formatBytes(bytes)}
        </a>
      </div>
      <ul class="newest-files">
        {shown.map((output) => (
          <li key={output.id}>
            <span class="wrap-anywhere">
              {outputTitle(output)} {isRepeated(output) && <span class="faint">{nodeOf(output)}</span>}
            </span>
            <span class="faint figure">{formatBytes(output.sizeBytes)}</span>
            <span class="faint">
              <Ago at={output.createdAt} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** A shared session's window and participants; the timeline's code is fetched when there is a window. */
const WindowLoader = lazy(
  () => import('../../shared/session-window.tsx').then((module) => module.SessionWindowPart),
  { rows: 1, label: 'Loading the window' },
);
