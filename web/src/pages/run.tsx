import { formatExactly } from '../format.ts';
import { useEvery, useNow, useResource, useTitle } from '../hooks.ts';
import { isMissing } from '../http.ts';
import { titleOf, withoutCategory } from '../names.ts';
import { useAbilities } from '../role.ts';
import { type NodeRunDetails, readRun } from '../runs/api.ts';
import { LogPanel } from '../runs/log-panel.tsx';
import {
  elapsedOf,
  formatRest,
  isOpenRun,
  outsideRunnerOf,
  phaseOf,
  reasonOf,
  segmentsOf,
} from '../runs/model.ts';
import { RunActions } from '../runs/run-actions.tsx';
import { RunBadge } from '../runs/run-badge.tsx';
import { RunFacts } from '../runs/run-facts.tsx';
import { RunProgress } from '../runs/run-progress.tsx';
import { Waterfall } from '../runs/waterfall.tsx';
import { Ago, Moment } from '../ui/ago.tsx';
import { ShortId } from '../ui/copy-button.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Empty } from '../ui/notice.tsx';
import { RunsPage } from './runs.tsx';
import '../styles/runs/runs.css';

/** A run's state is asked for while it is open; its log comes by itself. */
const refreshMs = 2000;

/** One run: where it stands, its attempts, its log, what went in and came out. */
function RunPage({ runId }: { runId: string }) {
  const run = useResource(runId, (signal) => readRun(runId, signal));
  const isOpen = run.data !== null && isOpenRun(run.data);
  useEvery(refreshMs, isOpen, run.reload);
  useTitle(run.data === null ? 'Run' : `Run of ${titleOf(run.data.nodeName)}`);
  if (isMissing(run.error)) {
    return (
      <Empty isPage title="Run not found">
        <p>
          Its session may have been deleted. Check the address. <a href="/runs">Runs</a>
        </p>
      </Empty>
    );
  }
  return (
    <div class="page page-run">
      <Loaded of={run} failure="The run could not be read." rows={4} label="Loading the run">
        {(shown) => (
          <>
            <RunHead run={shown} isLive={run.error === null} changed={run.reload} />
            <Attempts run={shown} />
            <div class="run-body">
              <LogPanel run={shown} ended={run.reload} />
              <RunFacts run={shown} />
            </div>
          </>
        )}
      </Loaded>
    </div>
  );
}

const reasons = { input: 'for new input', reprocess: 'by a reprocess', 'follow-up': 'as a follow-up' };

function RunHead(props: { run: NodeRunDetails; isLive: boolean; changed: () => void }) {
  const { run } = props;
  const { operate } = useAbilities();
  return (
    <header class="session-head">
      <nav class="crumbs" aria-label="Path">
        <a href="/runs">Runs</a> / <a href={`/sessions/${run.sessionId}`}>{run.sessionName}</a>
      </nav>
      <div class="page-head">
        <h1>
          <a class="strong-link" href={`/sessions/${run.sessionId}?node=${run.nodeInstanceId}`}>
            {titleOf(run.nodeName)}
          </a>{' '}
          <span class="run-number">
            attempt {run.attempt} of {run.maxAttempts}
          </span>
        </h1>
        <RunActions
          run={run}
          changed={props.changed}
          fix={
            <a
              class="button button-small button-primary"
              href={`/sessions/${run.sessionId}?node=${run.nodeInstanceId}`}
            >
              {operate ? 'Fix and run again' : 'Show the failed node'}
            </a>
          }
        />
      </div>
      <State run={run} isLive={props.isLive} />
      {run.heldBy !== null && <RunProgress run={run} />}
      {run.state === 'failed' && run.statusDetails !== '' && (
        <p class="details details-failed">{withoutCategory(run.statusDetails)}</p>
      )}
      <p class="faint meta">
        <span title={run.nodeTemplate}>{titleOf(run.nodeTemplate)}</span>
        <span>runner type {run.runnerType}</span>
        <span>
          made {reasons[run.reason]} at <Moment at={run.createdAt} />
        </span>
        <ShortId id={run.id} of="run" />
      </p>
    </header>
  );
}

function State({ run, isLive }: { run: NodeRunDetails; isLive: boolean }) {
  const now = useNow(isOpenRun(run));
  return (
    <div class="summary">
      {/* Without the seconds beside it, which a screen reader would read aloud each time. */}
      <span role="status" aria-label="State of the run">
        <RunBadge state={run.state} />
      </span>
      <Holding run={run} now={now} />
      {isOpenRun(run) && isLive && <span class="live">live</span>}
    </div>
  );
}

/** `by pit-wall-3 (1.4.0) for 16 s`, `next attempt in 2 min`, `took 4 s`. */
function Holding({ run, now }: { run: NodeRunDetails; now: number }) {
  const last = run.attempts.at(-1);
  const by = last === undefined ? null : outsideRunnerOf(last, run);
  const elapsed = elapsedOf(run, now);
  // How long it has run stands with its progress.
  if (run.state === 'held') return by && <span title={run.heldBy?.instanceId}>on {by}</span>;
  if (run.state === 'waiting' && run.nextAttemptAt !== null) {
    const leftMs = Date.parse(run.nextAttemptAt) - now;
    return (
      <span>
        next attempt{' '}
        <time dateTime={run.nextAttemptAt} title={formatExactly(run.nextAttemptAt)}>
          {leftMs > 0 ? `in ${formatRest(leftMs)}` : 'now'}
        </time>
      </span>
    );
  }
  if (isOpenRun(run)) return <span>for {elapsed}</span>;
  return (
    <span>
      {by !== null && <>on {by}, </>}
      took {elapsed}
      {run.endedAt !== null && (
        <>
          , <Ago at={run.endedAt} />
        </>
      )}
    </span>
  );
}

/** The head of a failed run says already why its last attempt failed. */
const isSaidAbove = (run: NodeRunDetails, attempt: NodeRunDetails['attempts'][number]) =>
  reasonOf(attempt) === '' ||
  (run.state === 'failed' && attempt.number === run.attempt && run.statusDetails.includes(attempt.reason));

function Attempts({ run }: { run: NodeRunDetails }) {
  const now = useNow(isOpenRun(run));
  return (
    <section class="run-part" aria-label="Attempts">
      <Waterfall
        label="Attempts"
        rows={run.attempts.map((attempt) => ({
          key: String(attempt.number),
          label: (
            <>
              <strong>Attempt {attempt.number}</strong>{' '}
              <span class="faint" title={attempt.runner?.instanceId}>
                {outsideRunnerOf(attempt, run) ?? ''}
              </span>
            </>
          ),
          segments: segmentsOf(run, attempt, now),
          words: (
            <>
              {phaseOf(attempt, run)},{' '}
              {segmentsOf(run, attempt, now)
                .map(({ words }) => words)
                .join(', ')}
              {isSaidAbove(run, attempt) || (
                <span class="waterfall-reason" title={reasonOf(attempt)}>
                  {reasonOf(attempt)}
                </span>
              )}
            </>
          ),
        }))}
      />
    </section>
  );
}

/** The pages of runs: the list without an id. */
export function RunPages({ runId }: { runId: string | null }) {
  return runId === null ? <RunsPage /> : <RunPage runId={runId} />;
}
