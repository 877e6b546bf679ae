/** A report definition being edited. Pure: tested without a browser. */
import type { NewReport, Report } from '../../../client/types.ts';

type ReportColumn = Omit<Report['columns'][number], 'order'>;
type ReportFilter = Report['filters'][number];
type Definition = Omit<Report, 'columns' | 'configurationKey' | 'createdAt' | 'updatedAt'> & {
  readonly columns: readonly ReportColumn[];
};

export const columnTypes = ['string', 'number', 'boolean', 'date', 'duration'] as const;
export const sources = ['dimension', 'metadata', 'scenarioInstance', 'user', 'dashboard'] as const;

/** With its own id, so that inputs retain the focus while rows are added, removed and moved. */
export type DraftColumn = ReportColumn & { id: number };
export interface DraftFilter {
  id: number;
  filterKey: string;
  expression: string;
  /** The text of the input: JSON if it is valid JSON, else text. */
  value: string;
  source: ReportFilter['source'];
}

export interface Draft {
  key: string;
  name: string;
  fileName: string;
  dimensionNameFilter: string;
  covers: Report['covers'];
  setAsDefault: boolean;
  columns: DraftColumn[];
  filters: DraftFilter[];
}

let lastId = 0;
const nextId = () => {
  lastId += 1;
  return lastId;
};

export function newColumn(): DraftColumn {
  return {
    id: nextId(),
    columnKey: '',
    name: '',
    expression: '',
    type: 'string',
    format: '',
    source: 'dimension',
  };
}

export function newFilter(): DraftFilter {
  return { id: nextId(), filterKey: '', expression: '', value: '', source: 'dimension' };
}

export function draftOf(report: Definition | null): Draft {
  return {
    key: report?.key ?? '',
    name: report?.name ?? '',
    fileName: report?.fileName ?? '',
    dimensionNameFilter: report?.dimensionNameFilter ?? '',
    covers: report?.covers ?? 'sessions',
    setAsDefault: report?.isDefault ?? false,
    columns: report?.columns.map((column) => ({ ...column, id: nextId() })) ?? [newColumn()],
    filters:
      report?.filters.map((filter) => ({ ...filter, id: nextId(), value: valueText(filter.value) })) ?? [],
  };
}

/** The body to send. Empty keys are made from the names. */
export function fieldsOf(draft: Draft) {
  const fileName = draft.fileName.trim() || fileNameOf(draft.name);
  return {
    key: draft.key.trim() === '' ? keyOf(draft.name) : draft.key.trim(),
    name: draft.name.trim(),
    ...(fileName === '' ? {} : { fileName }),
    dimensionNameFilter: draft.dimensionNameFilter.trim(),
    covers: draft.covers,
    setAsDefault: draft.setAsDefault,
    columns: draft.columns.map(({ id: _id, ...column }, index) => ({
      ...column,
      columnKey: column.columnKey.trim() === '' ? itemKeyOf(column.name, index) : column.columnKey.trim(),
      order: (index + 1) * 10,
    })),
    filters: draft.filters.map(
      ({ id: _id, ...filter }, index): ReportFilter => ({
        ...filter,
        filterKey: filter.filterKey.trim() === '' ? `filter${index + 1}` : filter.filterKey.trim(),
        value: typedValue(filter.value),
      }),
    ),
  } satisfies NewReport;
}

/** The name as far as a file can have it; empty when nothing of it remains. */
export function fileNameOf(name: string): string {
  return name
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{N}._-]+/gu, ' ')
    .replaceAll(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '')
    .slice(0, 100)
    .trimEnd();
}

/** `Flight list` becomes `flight-list`; a name without Latin letters and digits becomes a number. */
export function keyOf(name: string): string {
  const key = words(name).join('-').toLowerCase().slice(0, 64).replace(/-$/, '');
  return key !== '' || name.trim() === '' ? key : `report-${numberOf(name)}`;
}

/** The same for the same name. */
const numberOf = (name: string) =>
  [...name.trim()].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)!) >>> 0, 0);

/** `Flight list` becomes `flightList`. */
function itemKeyOf(name: string, index: number): string {
  const [first = `column${index + 1}`, ...rest] = words(name).filter((word) => /^[a-z]/i.test(word));
  return [first.toLowerCase(), ...rest.map((word) => word[0]!.toUpperCase() + word.slice(1))]
    .join('')
    .slice(0, 64);
}

function words(name: string): string[] {
  return name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '');
}

/** Numbers, true, false and null as such; everything else, and quoted values, as text. */
function typedValue(text: string): ReportFilter['value'] {
  const trimmed = text.trim();
  if (/^(true|false|null)$/.test(trimmed) || /^-?\d+(\.\d+)?$/.test(trimmed) || /^".*"$/s.test(trimmed)) {
    try {
      return JSON.parse(trimmed) as ReportFilter['value'];
    } catch {
      return text;
    }
  }
  return text;
}

function valueText(value: ReportFilter['value']): string {
  return typeof value === 'string' && typedValue(value) === value ? value : JSON.stringify(value);
}

/** The list with the item of this id changed. */
export function changed<T extends { id: number }>(list: readonly T[], id: number, part: Partial<T>): T[] {
  return list.map((item) => (item.id === id ? { ...item, ...part } : item));
}

/** The list with one item moved by a place. */
export function moved<T>(list: readonly T[], index: number, by: -1 | 1): T[] {
  const next = [...list];
  const target = index + by;
  if (target < 0 || target >= list.length) return next;
  [next[index], next[target]] = [next[target]!, next[index]!];
  return next;
}
