import { downloadReport } from '../dashboard-api.ts';
import { momentsOf } from '../days.ts';
import { useResource } from '../hooks.ts';
import { readFirst } from '../preview/fetch.ts';
import { separated } from '../preview/read.ts';
import { TableView } from '../preview/table-view.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { cellText } from './cell-text.ts';

const previewBytes = 64 * 1024;

/** The first rows of the download. The rest of the file is not fetched. */
export function ReportPreview(props: { reportKey: string; range: { from: string; to: string } }) {
  const { reportKey, range } = props;
  const rows = useResource(`${reportKey} ${range.from} ${range.to}`, async (signal) => {
    const first = await readFirst(
      await downloadReport(reportKey, 'csv', momentsOf(range), signal),
      previewBytes,
    );
    const text = new TextDecoder().decode(first.bytes);
    const whole = first.isWhole ? text : text.slice(0, text.lastIndexOf('\n'));
    const [columns = [], ...cells] = separated(whole, ',');
    return { table: { columns, rows: cells.map((row) => row.map(cellText)) }, isWhole: first.isWhole };
  });
  return (
    <Loaded of={rows} failure="The report could not be created." rows={2} label="Creating the report">
      {({ table, isWhole }) => (
        <div class="report-preview">
          {table.rows.length === 0 ? (
            <p class="faint">No rows{range.from + range.to === '' ? '' : ' in this period'}.</p>
          ) : (
            <TableView table={table} words={isWhole ? ['row', 'rows'] : ['row and more', 'rows and more']} />
          )}
        </div>
      )}
    </Loaded>
  );
}
