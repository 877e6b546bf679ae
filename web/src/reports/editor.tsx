import { useState } from 'preact/hooks';
import type { Report } from '../api.ts';
import { readReport, saveReport } from '../api.ts';
import { useAction, useResource } from '../hooks.ts';
import { Dialog } from '../ui/dialog.tsx';
import { CheckField, Form, TextField } from '../ui/form.tsx';
import { Failure, Placeholder } from '../ui/notice.tsx';
import { ColumnRows, FilterRows } from './editor-rows.tsx';
import type { Draft } from './model.ts';
import { draftOf, fieldsOf, keyOf } from './model.ts';

/** Makes or changes a report definition; `reportKey` null makes a new one. */
export function ReportEditor(props: { reportKey: string | null; saved: () => void; onClose: () => void }) {
  const { reportKey } = props;
  const report = useResource(reportKey ?? '', (signal) =>
    reportKey === null ? Promise.resolve(null) : readReport(reportKey, signal),
  );
  const isReady = reportKey === null || report.data !== null;
  return (
    <Dialog title={reportKey === null ? 'New report' : 'Change the report'} wide onClose={props.onClose}>
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
  const [draft, setDraft] = useState(() => draftOf(report));
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
        {isNew && (
          <TextField
            label="Key"
            hint={`Empty: ${keyOf(draft.name) || 'made from the name'}`}
            value={draft.key}
            onValue={(key) => change({ key })}
          />
        )}
        <TextField
          label="File name"
          hint="Without its ending; the time is added."
          value={draft.fileName}
          onValue={(fileName) => change({ fileName })}
        />
        <TextField
          label="Dashboards"
          hint="Part of their name; empty: all."
          value={draft.dimensionNameFilter}
          onValue={(dimensionNameFilter) => change({ dimensionNameFilter })}
        />
      </div>
      <ColumnRows columns={draft.columns} onChange={(columns) => change({ columns })} />
      <FilterRows filters={draft.filters} onChange={(filters) => change({ filters })} />
      <CheckField
        label="The report that is chosen first"
        checked={draft.setAsDefault}
        onChecked={(setAsDefault) => change({ setAsDefault })}
      />
    </Form>
  );
}
