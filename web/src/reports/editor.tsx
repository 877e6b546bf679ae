import { useMemo, useState } from 'preact/hooks';
import { listMetadataKeys, type Report } from '../api.ts';
import { listReportNames, readReport, saveReport } from '../dashboard-api.ts';
import { useAction, useResource } from '../hooks.ts';
import { Dialog } from '../ui/dialog.tsx';
import { CheckField, Form, TextField } from '../ui/form.tsx';
import { Failure, Placeholder } from '../ui/notice.tsx';
import { candidatesOf } from './completion.ts';
import { ColumnRows, FilterRows } from './editor-rows.tsx';
import { LivePreview } from './live-preview.tsx';
import type { Draft } from './model.ts';
import { draftOf, fieldsOf, fileNameOf, keyOf } from './model.ts';
import { PickColumns } from './pick-columns.tsx';
import { firstColumns } from './picks.ts';

/** Makes or changes a report definition; `reportKey` null makes a new one. */
export function ReportEditor(props: { reportKey: string | null; saved: () => void; onClose: () => void }) {
  const { reportKey } = props;
  const report = useResource(reportKey ?? '', (signal) =>
    reportKey === null ? Promise.resolve(null) : readReport(reportKey, signal),
  );
  const isReady = reportKey === null || report.data !== null;
  return (
    <Dialog title={reportKey === null ? 'New report' : 'Edit report'} wide onClose={props.onClose}>
      {report.error !== null && (
        <Failure what="The report could not be read." error={report.error} retry={report.reload} />
      )}
      {!isReady && report.error === null && <Placeholder rows={4} label="Loading the report" />}
      {isReady && <Editor report={report.data} saved={props.saved} onClose={props.onClose} />}
    </Dialog>
  );
}

function Editor(props: { report: Report | null; saved: () => void; onClose: () => void }) {
  const { report } = props;
  const isNew = report === null;
  const action = useAction();
  const names = useResource('report-names', listReportNames);
  const keys = useResource('report-metadata', (signal) => listMetadataKeys(null, signal));
  const candidates = useMemo(() => candidatesOf(names.data, keys.data ?? []), [names.data, keys.data]);
  const [draft, setDraft] = useState(() => ({
    ...draftOf(report),
    ...(report === null ? { columns: firstColumns() } : {}),
  }));
  const change = (part: Partial<Draft>) => setDraft((before) => ({ ...before, ...part }));
  const save = async () => {
    await saveReport(report?.key ?? null, fieldsOf(draft));
    props.saved();
    props.onClose();
  };
  return (
    <Form
      action={action}
      verb={isNew ? 'Create report' : 'Save'}
      onSubmit={() => void action.run(save)}
      onCancel={props.onClose}
    >
      <div class="fields">
        <TextField label="Name" required value={draft.name} onValue={(name) => change({ name })} />
        <TextField
          label="File name"
          hint={`Without extension; the time is appended. Leave empty for ${fileNameOf(draft.name) || 'the name'}.`}
          value={draft.fileName}
          onValue={(fileName) => change({ fileName })}
        />
        <TextField
          label="Sessions"
          hint="Part of the name of the session or its dashboard. Leave empty for all."
          value={draft.dimensionNameFilter}
          onValue={(dimensionNameFilter) => change({ dimensionNameFilter })}
        />
      </div>
      <CheckField
        label="Sessions without a dashboard too"
        checked={draft.covers === 'sessions'}
        onChecked={(all) => change({ covers: all ? 'sessions' : 'dashboards' })}
      />
      <PickColumns
        columns={draft.columns}
        names={names.data}
        metadata={keys.data ?? []}
        onChange={(columns) => change({ columns })}
      />
      <LivePreview draft={draft} />
      <details class="report-advanced">
        <summary>Advanced: expressions, order, filters</summary>
        {isNew && (
          <TextField
            label="Key"
            hint={`Leave empty for ${keyOf(draft.name) || 'one from the name'}`}
            value={draft.key}
            onValue={(key) => change({ key })}
          />
        )}
        <ColumnRows
          columns={draft.columns}
          candidates={candidates}
          onChange={(columns) => change({ columns })}
        />
        <FilterRows
          filters={draft.filters}
          candidates={candidates}
          onChange={(filters) => change({ filters })}
        />
      </details>
      <CheckField
        label="Default report"
        checked={draft.setAsDefault}
        onChecked={(setAsDefault) => change({ setAsDefault })}
      />
    </Form>
  );
}
