import { previewReport } from '../dashboard-api.ts';
import { formatValue } from '../format.ts';
import { useResource, useSettled } from '../hooks.ts';
import { isOutage } from '../http.ts';
import { TableView } from '../preview/table-view.tsx';
import { Failure, Placeholder } from '../ui/notice.tsx';
import { cellText } from './cell-text.ts';
import { type Draft, fieldsOf } from './model.ts';

const settleMs = 400;

/** Real rows of the definition as it is now; what is wrong with it, with its place. */
export function LivePreview({ draft }: { draft: Draft }) {
  const { columns, filters, dimensionNameFilter, covers } = fieldsOf(draft);
  const asked = JSON.stringify({
    // A column that is being written has no heading or expression yet.
    columns: columns.filter(({ name, expression }) => name !== '' && expression !== ''),
    filters: filters.filter(({ expression }) => expression !== ''),
    dimensionNameFilter,
    covers,
  });
  const settled = useSettled(asked, settleMs);
  const rows = useResource(
    settled,
    (signal) => previewReport(JSON.parse(settled) as Parameters<typeof previewReport>[0], signal),
    { keepWhileLoading: true },
  );
  return (
    <section class="report-part report-live" aria-label="Preview" aria-busy={rows.loading}>
      <h3>Preview</h3>
      {rows.error !== null && (
        <Failure
          what={isOutage(rows.error) ? 'The rows could not be read.' : 'The report has a fault.'}
          error={rows.error}
        />
      )}
      {rows.data === null && rows.error === null && <Placeholder rows={2} label="Reading the first rows" />}
      {rows.error === null && rows.data !== null && (
        <div class="report-preview">
          {rows.data.columns.length === 0 ? (
            <p class="faint">Tick a column to see its values.</p>
          ) : rows.data.rows.length === 0 ? (
            <p class="faint">No session{covers === 'dashboards' && ' with a dashboard'} matches.</p>
          ) : (
            <TableView
              table={{
                columns: [...rows.data.columns],
                rows: rows.data.rows.map((row) => row.map(valueText)),
              }}
              words={['row shown', 'rows shown']}
            />
          )}
        </div>
      )}
    </section>
  );
}

function valueText(value: string | number | boolean | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return formatValue(value);
  return cellText(String(value));
}
