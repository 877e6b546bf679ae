import { useEffect, useState } from 'preact/hooks';
import { plural } from '../format.ts';
import { useSettled } from '../hooks.ts';
import { navigate, useAddress, withParameters } from '../router.ts';
import { useCopy } from '../ui/copy-button.tsx';
import { Select } from '../ui/form.tsx';
import { Icon } from '../ui/icon.tsx';
import { Failure } from '../ui/notice.tsx';
import { SearchField } from '../ui/search-field.tsx';
import type { NodeRun } from './api.ts';
import { type FollowedLog, useLog } from './follow-log.ts';
import { type LogLines, lineText } from './log-lines.ts';
import { LogView } from './log-view.tsx';
import { attemptWithLog, isOpenRun } from './model.ts';

const levels = [
  { value: 'debug', label: 'All levels' },
  { value: 'info', label: 'Info and above' },
  { value: 'warning', label: 'Warnings and errors' },
  { value: 'error', label: 'Errors' },
] as const;
type Level = (typeof levels)[number]['value'];

/** The log of a run: attempt, level and search are in the address. `ended` is called once all of it is there. */
export function LogPanel(props: { run: NodeRun; ended: () => void }) {
  const { run } = props;
  const [wrap, setWrap] = useState(true);
  const filter = useLogFilter(run);
  const { attempt, settled } = filter;
  const log = useLog(run.id, {
    attempt: attempt ?? undefined,
    level: filter.level === 'debug' ? undefined : filter.level,
    search: settled || undefined,
  });
  const { lines } = log;
  const isFiltered = settled !== '' || filter.level !== 'debug';
  useEffect(() => {
    if (lines.isComplete && isOpenRun(run)) props.ended();
  }, [lines.isComplete]);
  const shown = run.attempts.find(({ number }) => number === attempt);
  const isBad = shown?.outcome === 'failed' || shown?.outcome === 'lost';
  return (
    <section class="run-part" aria-label="Logs">
      <div class="log-head">
        <h2>Logs</h2>
        <div class="filters">
          <LogFilters run={run} filter={filter} />
          <button
            type="button"
            class="button button-small"
            aria-pressed={wrap}
            onClick={() => setWrap(!wrap)}
          >
            Wrap lines
          </button>
          <CopyLog lines={lines} />
        </div>
      </div>
      {log.error !== null && <Failure what="The log could not be read." error={log.error} />}
      <LogView
        key={attempt}
        lines={lines}
        version={log.version}
        wrap={wrap}
        search={settled}
        manyAttempts={attempt === null}
        none={log.connection === 'opening' || log.error !== null ? '' : noLines(run, attempt, isFiltered)}
        opensAt={isBad ? 'error' : isOpenRun(run) ? 'end' : 'start'}
      />
      <LogFoot log={log} isFiltered={isFiltered} />
    </section>
  );
}

/** Why there is no line. */
function noLines({ attempts }: NodeRun, attempt: number | null, isFiltered: boolean): string {
  if (isFiltered) return 'No line of this level and search.';
  const asked = attempts.filter(({ number }) => attempt === null || number === attempt);
  return asked.some(({ startedAt }) => startedAt !== null)
    ? 'No line yet.'
    : 'The log begins when a runner claims the run.';
}

interface LogFilter {
  /** Null: those of all attempts. */
  attempt: number | null;
  level: Level;
  /** As it is typed; `settled` is what is searched for. */
  search: string;
  settled: string;
  setSearch: (search: string) => void;
  /** Sets a parameter of the address; an empty one is left out. */
  set: (name: 'attempt' | 'level', value: string) => void;
}

/** Attempt, level and search, as the address has them. */
function useLogFilter(run: NodeRun): LogFilter {
  const { query } = useAddress();
  const [search, setSearch] = useState(query.get('search') ?? '');
  const settled = useSettled(search, 300);
  const level = levels.find(({ value }) => value === query.get('level'))?.value ?? 'debug';
  const asked = query.get('attempt') ?? '';
  const attempt = asked === 'all' ? null : Number(asked) || attemptWithLog(run);
  const set = (name: string, value: string) => navigate(withParameters({ [name]: value }), { replace: true });
  useEffect(() => set('search', settled), [settled]);
  return { attempt, level, search, settled, setSearch, set };
}

function LogFilters({ run, filter }: { run: NodeRun; filter: LogFilter }) {
  const { attempt, level, set } = filter;
  const numbers = run.attempts.map(({ number }) => number).reverse();
  return (
    <>
      <SearchField label="Search in the log" value={filter.search} onValue={filter.setSearch} />
      <Select<Level>
        label="Level"
        class="filter"
        value={level}
        options={levels}
        onValue={(value) => set('level', value === 'debug' ? '' : value)}
      />
      {run.attempts.length > 1 && (
        <Select
          label="Attempt"
          class="filter"
          value={attempt === null ? 'all' : String(attempt)}
          options={[
            ...numbers.map((number) => ({ value: String(number), label: `Attempt ${number}` })),
            { value: 'all', label: 'All attempts' },
          ]}
          onValue={(value) => set('attempt', value === String(attemptWithLog(run)) ? '' : value)}
        />
      )}
    </>
  );
}

/** How many lines there are, and whether more come. */
function LogFoot({ log, isFiltered }: { log: FollowedLog; isFiltered: boolean }) {
  const { lines, connection } = log;
  return (
    <p class="faint log-foot">
      {plural(lines.entries.length, 'line', 'lines')}
      {lines.isComplete && lines.entries.length === 0 && isFiltered ? ' of this level and search' : ''}
      {/* Without the lines, which come every second. */}
      <span role="status">
        {!lines.isComplete && connection === 'live' && <span class="live">live</span>}
        {connection === 'lost' && log.error === null && (
          <span class="live live-lost">connection lost, reconnecting</span>
        )}
      </span>
    </p>
  );
}

function CopyLog({ lines }: { lines: LogLines }) {
  const { message, icon, copy } = useCopy();
  return (
    <button
      type="button"
      class="button button-small"
      onClick={() => void copy(lines.entries.map(lineText).join('\n'))}
    >
      <Icon name={icon} />
      <span aria-live="polite">{message || 'Copy'}</span>
    </button>
  );
}
