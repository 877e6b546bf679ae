import { useMemo, useState } from 'preact/hooks';
import { listMetadataKeys, type Report, type ReportChange } from '../api.ts';
import { changeReport, createReport, listReportNames, readReport } from '../dashboard-api.ts';
import { useAction, useResource } from '../hooks.ts';
import { isOvertaken } from '../http.ts';
import { changedFields } from '../ui/changed-fields.ts';
import { Dialog } from '../ui/dialog.tsx';
import { CheckField, Form, TextField } from '../ui/form.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { type Candidate, candidatesOf } from './completion.ts';
import { ColumnRows, FilterRows } from './editor-rows.tsx';
import { LivePreview } from './live-preview.tsx';
import type { Draft } from './model.ts';
import { draftOf, fieldsOf, fileNameOf, keyOf } from './model.ts';
import { PickColumns } from './pick-columns.tsx';
import { firstColumns } from './picks.ts';

interface Ends {
  saved: () => void;
  onClose: () => void;
}

/** Makes or changes a report definition; `reportKey` null makes a new one. */
export function ReportEditor({ reportKey, ...ends }: { reportKey: string | null } & Ends) {
  return (
    <Dialog title={reportKey === null ? 'New report' : 'Edit report'} wide onClose={ends.onClose}>
      {reportKey === null ? (
        <Editor report={null} {...ends} />
      ) : (
        <StoredReport reportKey={reportKey} {...ends} />
      )}
    </Dialog>
  );
}

function StoredReport({ reportKey, ...ends }: { reportKey: string } & Ends) {
  const stored = useResource(reportKey, (signal) => readReport(reportKey, signal));
  return (
    <Loaded of={stored} failure="The report could not be read." rows={4} label="Loading the report">
      {(report) => <Editor report={report} {...ends} />}
    </Loaded>
  );
}

const overtaken =
  'Someone changed the report meanwhile. Save once more to replace its columns and filters by yours, or open it again.';

/**
 * A list replaces the stored one, so it is sent for the report as it was read; once others have changed that, for
 * whatever it is then. Other fields are those that the person changed.
 */
function useReplacing(report: Report | null) {
  const [revision, setRevision] = useState(report?.revision ?? null);
  return (key: string, change: ReportChange) =>
    changeReport(key, change.columns || change.filters ? revision : null, change).catch((error: unknown) => {
      if (!isOvertaken(error)) throw error;
      setRevision(null);
      throw new Error(overtaken);
    });
}

function Editor(props: { report: Report | null } & Ends) {
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
  const replace = useReplacing(report);
  const save = async () => {
    if (report === null) await createReport(fieldsOf(draft));
    else await replace(report.key, changedFields(fieldsOf(draftOf(report)), fieldsOf(draft)));
    props.saved();
    props.onClose();
  };
  return (
    <Form
      action={action}
      verb={isNew ? 'Create report' : 'Save'}
      names={{ key: 'Key', fileName: 'File name' }}
      onSubmit={() => void action.run(save)}
      onCancel={props.onClose}
    >
      <NameAndSessions draft={draft} change={change} />
      <PickColumns
        columns={draft.columns}
        names={names.data}
        metadata={keys.data ?? []}
        onChange={(columns) => change({ columns })}
      />
      <LivePreview draft={draft} />
      <Advanced draft={draft} change={change} isNew={isNew} candidates={candidates} />
      <CheckField
        label="Default report"
        checked={draft.setAsDefault}
        onChecked={(setAsDefault) => change({ setAsDefault })}
      />
    </Form>
  );
}

interface Editing {
  draft: Draft;
  change: (part: Partial<Draft>) => void;
}

/** The names of the report and its files, and the sessions that it covers. */
function NameAndSessions({ draft, change }: Editing) {
  return (
    <>
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
    </>
  );
}

/** What the picked columns do not say: expressions, their order, filters and the key. */
function Advanced(props: { isNew: boolean; candidates: readonly Candidate[] } & Editing) {
  const { draft, change, candidates } = props;
  return (
    <details
      class="report-advanced"
      // A browser shows nothing of a fault in a field that is not in sight.
      onInvalidCapture={(event) => {
        event.currentTarget.open = true;
      }}
    >
      <summary>Advanced: expressions, order, filters</summary>
      {props.isNew && (
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
  );
}
