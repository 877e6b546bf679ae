import type { NewLayout } from '../../../../client/types.ts';
import { exportRows } from '../../dashboard-api.ts';
import { useAction } from '../../hooks.ts';
import { attachmentName, saveAnswer, saveBlob } from '../../save.ts';
import { Menu, type MenuItem } from '../../ui/menu.tsx';
import type { TimeSpan } from '../model.ts';
import { pictureOf } from './picture.ts';

/** What is saved. */
interface Seen {
  /** The beginning of the files' names. */
  name: string;
  /** The keys of stored channels. */
  keys: readonly string[];
  /** The derived channels of the dashboard `derivedOf`. */
  derived?: NonNullable<NewLayout['layout']['derived']>;
  derivedOf?: string;
  dimensionOf: (channelKey: string) => string;
  span: TimeSpan;
  /** The element with the charts; null: they are gone. */
  charts: () => Element | null;
}

/** Files of what is seen: the rows of the drawn channels, and a picture of the charts. */
export function saveItems(seen: Seen, run: (work: () => Promise<unknown>) => void): MenuItem[] {
  const { derived = [], derivedOf } = seen;
  const from = new Date(seen.span.fromMs).toISOString();
  const to = new Date(seen.span.toMs).toISOString();
  // A file for each dashboard: its recordings are its own.
  const rows = (format: 'csv' | 'parquet') => async () => {
    const files = Map.groupBy(seen.keys, seen.dimensionOf);
    if (derived.length > 0 && derivedOf !== undefined && !files.has(derivedOf)) files.set(derivedOf, []);
    for (const [dimensionId, channels] of files) {
      const computed = dimensionId === derivedOf ? derived : [];
      const answer = await exportRows(dimensionId, { channels, derived: computed, from, to, format });
      await saveAnswer(answer, attachmentName);
    }
  };
  const png = async () => {
    const charts = seen.charts();
    if (charts !== null) saveBlob(await pictureOf(charts, seen.name), `${seen.name}.png`);
  };
  const hint = 'Every row of the drawn channels in this time';
  const file = (label: string, work: () => Promise<unknown>): MenuItem => ({
    label,
    icon: 'download',
    act: () => run(work),
  });
  const stored = [file('Save csv', rows('csv')), file('Save Parquet', rows('parquet'))];
  return [
    ...(seen.keys.length + derived.length === 0 ? [] : stored.map((item) => ({ ...item, hint }))),
    file('Save PNG', png),
  ];
}

export function SaveMenu(props: Omit<Seen, 'charts'>) {
  const action = useAction();
  const seen = { ...props, charts: () => document.querySelector('.charts') };
  return (
    <>
      <Menu label="Save" text icon="download" items={saveItems(seen, (work) => void action.run(work))} />
      <span role="status">{action.problem}</span>
    </>
  );
}
