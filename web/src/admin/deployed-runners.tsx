import type { DeployedRunner } from '../admin-api.ts';
import { plural } from '../format.ts';
import { Ago } from '../ui/ago.tsx';
import type { IconName } from '../ui/icon.tsx';
import { Badge } from '../ui/state-badge.tsx';
import { Table } from '../ui/table.tsx';

type Process = DeployedRunner['processes'][number];

const styles: Record<Process['state'], { tone: string; label: string; icon: IconName }> = {
  starting: { tone: 'working', label: 'Starting', icon: 'spinner' },
  running: { tone: 'done', label: 'Running', icon: 'check' },
  waiting: { tone: 'waiting', label: 'Down, restarting', icon: 'clock' },
  stopping: { tone: 'paused', label: 'Stopping', icon: 'pause' },
  silent: { tone: 'failed', label: 'Not reporting', icon: 'warning' },
};

/** The runner types that the platform itself runs, with their processes. */
export function DeployedRunners({ deployed }: { deployed: readonly DeployedRunner[] }) {
  return (
    <section class="page" aria-label="Run by the platform">
      <div class="part-head">
        <h2>Run by the platform</h2>
        <span class="faint">{plural(deployed.length, 'runner type', 'runner types')}</span>
      </div>
      <Table
        caption="Runner types that the platform runs"
        columns={['Runner type', 'Process', 'Starts', 'Since']}
      >
        {deployed.flatMap((runner) =>
          runner.processes.length === 0
            ? [<IdleRow key={runner.runnerType} runner={runner} />]
            : runner.processes.map((process) => (
                <ProcessRow
                  key={`${runner.runnerType} ${process.number}`}
                  runner={runner}
                  process={process}
                />
              )),
        )}
      </Table>
    </section>
  );
}

function TypeCell({ runner, number }: { runner: DeployedRunner; number: number | null }) {
  return (
    <td class="wrap-anywhere">
      <strong>{runner.runnerType}</strong>
      {number !== null && runner.processes.length > 1 && <span class="tag">process {number}</span>}
      <div class="faint mono">{runner.entrypoint ?? 'no module'}</div>
    </td>
  );
}

function IdleRow({ runner }: { runner: DeployedRunner }) {
  return (
    <tr>
      <TypeCell runner={runner} number={null} />
      <td data-label="Process" colSpan={3}>
        <span class="faint">
          {runner.entrypoint === null
            ? 'Its manifest names no module.'
            : 'No runner host runs it: the host is off, full, or not yet updated.'}
        </span>
      </td>
    </tr>
  );
}

function ProcessRow({ runner, process }: { runner: DeployedRunner; process: Process }) {
  return (
    <tr>
      <TypeCell runner={runner} number={process.number} />
      <td data-label="Process" class="wrap-anywhere">
        <Badge {...styles[process.state]} />
        {process.message !== '' && <div class="faint">{process.message}</div>}
      </td>
      <td data-label="Starts">{process.starts}</td>
      <td data-label="Since" class="nowrap">
        <Ago at={process.changedAt} />
      </td>
    </tr>
  );
}
