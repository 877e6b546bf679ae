/** Wire forms of reports (contract: Dashboard items). */
import { z } from 'zod';
import { exampleValues } from '../../domain/examples.ts';
import { type Cell, columnTypes, reportCoverages, reportSources } from '../../domain/reports/report.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import { int32, longText, nameText, optionalText, timestampOut, uuid } from '../../http/schemas.ts';
import { dateRange } from '../dashboards/date-range.ts';

const keyForm = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const nameForm = /^[A-Za-z][A-Za-z0-9_]*$/;
/** Takes what is derived from any key. */
const configurationForm = /^[A-Za-z0-9][A-Za-z0-9_]*$/;
const fileForm = /^[\p{L}\p{N}](?:[\p{L}\p{N} ._-]*[\p{L}\p{N}])?$/u;

const fileCharacters =
  '1 to 100 letters, digits, spaces, `.`, `_` and `-`, with a letter or digit at both ends';

const itemKey = () =>
  z.string().max(64).regex(nameForm, {
    error: 'A key must hold 1 to 64 letters, digits and `_`, and begin with a letter.',
  });
const reportKey = () =>
  z.string().max(64).regex(keyForm, {
    error: 'key must hold 1 to 64 lowercase letters and digits, with single hyphens between them.',
  });
/** Keys whose paths other routes have: a report under one could be created and not read. */
const otherPaths: readonly string[] = ['catalog', 'download'];
const newReportKey = () =>
  reportKey()
    .refine((key) => !otherPaths.includes(key), {
      error: 'key must not be `catalog` or `download`: other routes have these paths.',
    })
    .meta({ description: 'Not `catalog` or `download`.' });

const expressionText = () => longText().min(1);

const ownSource = () =>
  z.enum(reportSources).default('dimension').meta({
    description:
      'The source whose fields the expression may name alone: `name` for `dimension.name`. Those of the others, of `annotations` and of `channels` are named with their source.',
  });

const column = z.object({
  columnKey: itemKey(),
  name: nameText(),
  expression: expressionText().meta({
    description: 'A CEL expression over the row; see the description of the route. At most 64 KB.',
  }),
  type: z.enum(columnTypes).default('string'),
  format: optionalText(100)
    .default('')
    .meta({ description: 'An Excel number format; empty: the default of the type.' }),
  source: ownSource(),
  order: int32().optional().meta({ description: 'Default: the position in the list.' }),
});
const filter = z.object({
  filterKey: itemKey(),
  expression: expressionText().meta({ description: 'As that of a column.' }),
  value: z
    .union([z.string().max(1000), z.number(), z.boolean(), z.null()])
    .meta({ description: 'Rows are kept when the expression equals this value.' }),
  source: ownSource(),
});

const fields = {
  name: nameText(),
  configurationKey: z
    .string()
    .max(64)
    .regex(configurationForm, {
      error: 'configurationKey must hold 1 to 64 letters, digits and `_`, and begin with a letter or digit.',
    })
    .optional(),
  fileName: z
    .string()
    .max(100)
    .regex(fileForm, { error: `fileName must hold ${fileCharacters}.` })
    .optional()
    .meta({ description: `Holds ${fileCharacters}.` }),
  dimensionNameFilter: optionalText(255).optional().meta({
    description:
      'Part of the name of the dashboard; for a report over sessions, of the dashboard or the session.',
  }),
  covers: z.enum(reportCoverages).optional().meta({
    description:
      'Which sessions have rows: `dashboards`, those with a dashboard (default of a new report), or `sessions`, all.',
  }),
  setAsDefault: z.boolean().default(false),
  columns: z.array(column).max(100),
  filters: z.array(filter).max(50).default([]),
};

const columnExample = {
  columnKey: 'session',
  name: 'Session',
  expression: 'dimension.sessionName',
  type: 'string',
  format: '',
  source: 'dimension',
  order: 10,
} as const;
const filterExample = {
  filterKey: 'next',
  expression: 'dashboard.version',
  value: 'next',
  source: 'dashboard',
} as const;

export const newReportSchema = z.object({ key: newReportKey(), ...fields }).meta({
  id: 'NewReport',
  example: {
    key: 'flight-list',
    name: 'Flight list',
    fileName: 'FlightList',
    dimensionNameFilter: '',
    covers: 'sessions',
    setAsDefault: false,
    columns: [columnExample],
    filters: [filterExample],
  },
});

export const reportChangeSchema = z
  .object({
    ...fields,
    name: fields.name.optional(),
    columns: z.array(column).max(100).optional(),
    filters: z.array(filter).max(50).optional(),
    replaceConfiguration: z.boolean().default(true).meta({
      description:
        'True: columns and filters that a list omits are removed. False: those in the list are updated or added.',
    }),
  })
  .meta({
    id: 'ReportChange',
    example: { name: 'Flights', replaceConfiguration: false, columns: [columnExample] },
  });

const storedColumn = z.object({
  columnKey: z.string(),
  name: z.string(),
  expression: z.string(),
  type: z.enum(columnTypes),
  format: z.string(),
  source: z.enum(reportSources),
  order: z.int(),
});
const storedFilter = z.object({
  filterKey: z.string(),
  expression: z.string(),
  value: z.union([z.string(), z.number(), z.boolean(), z.null()]),
  source: z.enum(reportSources),
});

export const reportPreviewRequestSchema = z
  .object({
    columns: fields.columns,
    filters: fields.filters,
    dimensionNameFilter: fields.dimensionNameFilter,
    covers: fields.covers,
  })
  .meta({ id: 'ReportPreviewRequest', example: { columns: [columnExample], filters: [filterExample] } });

export const reportPreviewSchema = z
  .object({
    columns: z.array(z.string()),
    rows: z
      .array(z.array(z.union([z.string(), z.number(), z.boolean(), z.null()])))
      .meta({ description: 'Null: an empty cell. A duration is in seconds.' }),
  })
  .meta({ id: 'ReportPreview', example: { columns: ['Session'], rows: [['Approach in fog']] } });

export const presentCell = (cell: Cell) =>
  cell.type === 'empty' ? null : cell.type === 'date' ? formatTimestamp(cell.value) : cell.value;

export const reportSchema = z
  .object({
    key: z.string(),
    name: z.string(),
    configurationKey: z.string(),
    fileName: z.string(),
    dimensionNameFilter: z.string(),
    covers: z.enum(reportCoverages),
    isDefault: z.boolean(),
    columns: z.array(storedColumn).meta({ description: 'Sorted by order.' }),
    filters: z.array(storedFilter),
    revision: z.int().meta({ description: 'Counts its changes from 1; the `ETag` of the definition.' }),
    createdAt: timestampOut(),
    updatedAt: timestampOut(),
  })
  .meta({
    id: 'Report',
    example: {
      key: 'flight-list',
      name: 'Flight list',
      configurationKey: 'flightList',
      fileName: 'FlightList',
      dimensionNameFilter: '',
      covers: 'sessions',
      isDefault: false,
      columns: [columnExample],
      filters: [filterExample],
      revision: 1,
      createdAt: '2026-03-01T10:00:00.000Z',
      updatedAt: '2026-03-01T10:00:00.000Z',
    },
  });

export const reportCatalogSchema = z
  .object({
    reports: z.array(z.object({ key: z.string(), name: z.string(), configurationKey: z.string() })),
    defaultReport: z.string(),
  })
  .meta({
    id: 'ReportCatalog',
    example: {
      reports: [{ key: 'session-list', name: 'Session list', configurationKey: 'sessionList' }],
      defaultReport: 'session-list',
    },
  });

export const reportParams = z.object({
  key: reportKey().meta({ description: 'The report.', example: 'session-list' }),
});

export const downloadQuerySchema = dateRange(
  z.object({
    userId: uuid().optional().meta({ description: 'Only rows of this user.', example: exampleValues.userId }),
    option: z.string().max(64).optional().meta({
      description: 'Key of the report; default: the default report.',
      example: 'session-list',
    }),
    report: z
      .string()
      .max(64)
      .optional()
      .meta({ description: 'Alias of `option`.', example: 'session-list' }),
    format: z
      .enum(['xlsx', 'csv'], { error: 'format must be xlsx or csv.' })
      .default('xlsx')
      .meta({ description: 'File format.' }),
  }),
);
