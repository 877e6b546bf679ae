import { useState } from 'preact/hooks';
import type { Report, ReportCatalog } from '../api.ts';
import { downloadReport, listReports, readReport } from '../dashboard-api.ts';
import { momentsOf } from '../days.ts';
import { plural } from '../format.ts';
import { type Action, useAction, useResource, useTitle } from '../hooks.ts';
import { ReportEditor } from '../reports/editor.tsx';
import { ReportPreview } from '../reports/preview.tsx';
import { Schedules } from '../reports/schedules.tsx';
import { useAbilities } from '../role.ts';
import { navigate, useAddress, withParameters } from '../router.ts';
import { attachmentName, saveAnswer } from '../save.ts';
import { readDay } from '../sessions/address.ts';
import { AddButton } from '../ui/buttons.tsx';
import { DateRange } from '../ui/date-range.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Empty, Notice } from '../ui/notice.tsx';

/** All reports; each can be downloaded for a range of days or for all. */
export function ReportsPage() {
  useTitle('Reports');
  const catalog = useResource('reports', listReports);
  const { query } = useAddress();
  const range = { from: readDay(query.get('from')), to: readDay(query.get('to')) };
  const [edited, setEdited] = useState<{ key: string | null } | null>(null);
  const { writeReports } = useAbilities();
  return (
    <div class="page">
      <div class="page-head">
        <h1>Reports</h1>
        <div class="actions">
          <DateRange
            {...range}
            onChange={(from, to) => navigate(withParameters({ from, to }), { replace: true })}
          />
          {writeReports && <AddButton onClick={() => setEdited({ key: null })}>New report</AddButton>}
        </div>
      </div>
      <ComparedDays {...range} />
      <Loaded of={catalog} failure="The reports could not be listed." rows={3} label="Loading reports">
        {(listed) => (
          <>
            {listed.reports.length === 0 ? (
              <Empty title="No reports yet">
                <p>A report is a table over sessions and their dashboards, with columns that you define.</p>
              </Empty>
            ) : (
              <ul class="cards">
                {inOrder(listed).map((report) => (
                  <ReportCard
                    key={report.key}
                    report={report}
                    isDefault={report.key === listed.defaultReport}
                    range={range}
                    onEdit={writeReports ? () => setEdited({ key: report.key }) : null}
                  />
                ))}
              </ul>
            )}
            <Schedules reports={listed.reports} mayWrite={writeReports} />
          </>
        )}
      </Loaded>
      {edited !== null && (
        <ReportEditor reportKey={edited.key} saved={catalog.reload} onClose={() => setEdited(null)} />
      )}
    </div>
  );
}

type Listed = ReportCatalog['reports'][number];
type Days = { readonly from: string; readonly to: string };
type Shown = 'rows' | 'columns' | null;

/** Once days are chosen: what they are compared with. */
function ComparedDays({ from, to }: Days) {
  if (from === '' && to === '') return null;
  return (
    <p class="faint">
      Rows and downloads have the sessions whose scenarios overlap these days, and those that have no times.
    </p>
  );
}

/** The default one first, the others by name. */
function inOrder({ reports, defaultReport }: ReportCatalog): ReportCatalog['reports'] {
  const rank = (key: string) => (key === defaultReport ? 0 : 1);
  return [...reports].sort((a, b) => rank(a.key) - rank(b.key) || a.name.localeCompare(b.name));
}

function ReportCard(props: {
  report: Listed;
  isDefault: boolean;
  range: Days;
  /** Null for people who may not change it. */
  onEdit: (() => void) | null;
}) {
  const { report, isDefault, range } = props;
  const action = useAction();
  const [shown, setShown] = useState<Shown>(null);
  return (
    <li class="card">
      <div class="card-head">
        <div>
          <h2>
            {report.name}
            {isDefault && <span class="tag">default</span>}
          </h2>
          <p class="faint mono">{report.key}</p>
        </div>
        <div class="actions">
          <Downloads report={report} range={range} action={action} />
          <PartButtons report={report} shown={shown} onShow={setShown} />
          {props.onEdit !== null && (
            <button
              type="button"
              class="button button-small button-quiet"
              aria-label={`Edit ${report.name}`}
              onClick={props.onEdit}
            >
              Edit
            </button>
          )}
        </div>
      </div>
      {action.problem !== null && <Notice tone="error">{action.problem}</Notice>}
      {shown === 'rows' && <ReportPreview reportKey={report.key} range={range} />}
      {shown === 'columns' && <Definition reportKey={report.key} />}
    </li>
  );
}

/** Each shows its part below the report, or hides it again. */
function PartButtons(props: { report: Listed; shown: Shown; onShow: (part: Shown) => void }) {
  const { report, shown } = props;
  const toggle = (part: Shown) => props.onShow(shown === part ? null : part);
  return (
    <>
      <button
        type="button"
        class="button button-small"
        aria-label={`Preview of ${report.name}`}
        aria-expanded={shown === 'rows'}
        onClick={() => toggle('rows')}
      >
        <Icon name="table" />
        Preview
      </button>
      <button
        type="button"
        class="button button-small button-quiet"
        aria-label={`${shown === 'columns' ? 'Hide columns' : 'Columns'} of ${report.name}`}
        aria-expanded={shown === 'columns'}
        onClick={() => toggle('columns')}
      >
        {shown === 'columns' ? 'Hide columns' : 'Columns'}
      </button>
    </>
  );
}

function Downloads(props: { report: Listed; range: Days; action: Action }) {
  const { report, range, action } = props;
  const download = (format: 'xlsx' | 'csv') =>
    void action.run(async () =>
      saveAnswer(await downloadReport(report.key, format, momentsOf(range)), attachmentName),
    );
  return (
    <>
      {(['xlsx', 'csv'] as const).map((format) => (
        <button
          key={format}
          type="button"
          class="button button-small"
          aria-label={`Download ${report.name} as ${format}`}
          aria-disabled={action.busy}
          onClick={() => download(format)}
        >
          <Icon name={action.busy ? 'spinner' : 'download'} />
          {format}
        </button>
      ))}
    </>
  );
}

function Definition(props: { reportKey: string }) {
  const report = useResource(props.reportKey, (signal) => readReport(props.reportKey, signal));
  return (
    <Loaded of={report} failure="The report could not be read." rows={2} label="Loading the report">
      {(definition) => <DefinitionFacts report={definition} />}
    </Loaded>
  );
}

function DefinitionFacts({ report }: { report: Report }) {
  return (
    <>
      {report.dimensionNameFilter !== '' && (
        <p class="faint">Only those with “{report.dimensionNameFilter}” in their name.</p>
      )}
      <p class="faint">{report.covers === 'sessions' ? 'All sessions.' : 'Sessions with a dashboard.'}</p>
      {report.columns.length === 0 && <p class="faint">No columns.</p>}
      <dl class="facts">
        {report.columns.map((column) => (
          <div class="facts-row" key={column.columnKey}>
            <dt>{column.name}</dt>
            <dd class="mono">{column.expression}</dd>
          </div>
        ))}
      </dl>
      {report.filters.length > 0 && (
        <>
          <h3>{plural(report.filters.length, 'filter', 'filters')}</h3>
          <dl class="facts">
            {report.filters.map((filter) => (
              <div class="facts-row" key={filter.filterKey}>
                <dt>{filter.filterKey}</dt>
                <dd class="mono">
                  {filter.expression} = {JSON.stringify(filter.value)}
                </dd>
              </div>
            ))}
          </dl>
        </>
      )}
    </>
  );
}
