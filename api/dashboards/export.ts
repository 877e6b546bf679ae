/** The rows of a dashboard's channels as a file. */
import type { Readable } from 'node:stream';
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { attachment } from '../../http/bodies/download.ts';
import { defineRoute } from '../route.ts';
import { type ExportColumn, type ExportedTimes, recordingHeading, timeHeadings } from '../series/protocol.ts';
import type { Services } from '../services.ts';
import { type AskedChannels, type ChannelQuestion, findChannels } from './find-channels.ts';
import { loadQuestion } from './load-dimension.ts';
import { hasRowNumbers } from './present.ts';
import { type QuestionContext, questionRoute } from './question-route.ts';
import { exportQuerySchema, exportQuestionSchema } from './question-schema.ts';
import { readRecordings, recordingsOf } from './read-series.ts';
import type { RequestedChannel } from './requested-channel.ts';
import { dimensionParams } from './schema.ts';

const mediaTypes = { csv: 'text/csv; charset=utf-8', parquet: 'application/vnd.apache.parquet' } as const;

/** Rows times channels; beyond it the file would take minutes and gigabytes. */
const maxCells = 200_000_000;

const responses = {
  200: {
    description: 'The file.',
    media: Object.values(mediaTypes),
    headers: { 'content-disposition': '`attachment` with the name of the session.' },
  },
} as const;

const exported = defineRoute({
  id: 'exportDashboard',
  method: 'GET',
  path: '/api/v2/dashboard/dimensions/{id}/export',
  share: 'exports',
  summary: "Downloads the rows of a dashboard's channels between two times, as csv or Parquet",
  description:
    'Every row, not thinned out. Columns are called by channel and unit. Several recordings follow one another and have a ' +
    'column with their names. Times are UTC, in csv with milliseconds, or microseconds where a row needs them; those of recordings without dates are seconds since their start, and such ' +
    `recordings are exported apart; recordings without times have row numbers. In csv, text that a spreadsheet would run as a formula has an apostrophe in front, as in ` +
    `reports; numbers stay as they are, integers without a decimal point, and Parquet holds the texts unchanged, and all numbers as DOUBLE. At most ${maxCells.toLocaleString('en')} cells.`,
  tags: ['Dashboards'],
  access: access.dashboardRead,
  params: dimensionParams,
  query: exportQuerySchema,
  responses,
  errors: ['dimensionNotFound', 'upstreamFailed'],
  refusals: { params: 'dimensionNotFound' },
  handler: (context) => answerExport(context, context.query),
});

const askExport = defineRoute({
  id: 'askDashboardExport',
  method: 'POST',
  path: '/api/v2/dashboard/dimensions/{id}/export',
  share: 'exports',
  summary: "Downloads the rows of a dashboard's channels and of derived channels, as csv or Parquet",
  description:
    'As GET, with the parameters as a JSON body and `derived` beside them, whose columns follow. A fault of an expression ' +
    'names its position.',
  ...questionRoute,
  body: exportQuestionSchema,
  responses,
  handler: (context) => answerExport(context, context.body),
});

async function answerExport(
  context: QuestionContext,
  asked: AskedChannels & { readonly format: 'csv' | 'parquet' },
) {
  const { services } = context;
  const { format } = asked;
  const { dimension, question } = await loadQuestion(context, asked);
  const wanted = findExported(question);
  return {
    status: 200 as const,
    // The file is not written for HEAD.
    stream: () => openExport(services, question, wanted, format),
    headers: {
      'content-type': mediaTypes[format],
      'content-disposition': attachment(`${dimension.sessionName}.${format}`),
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    },
  };
}

/** @throws Problem 400 for channels that are not there, too many cells, or recordings that do not go together */
function findExported(question: ChannelQuestion): RequestedChannel[] {
  const wanted = findChannels(question);
  const kinds = new Set(wanted.map(({ source }) => source.time.kind));
  if (kinds.size > 1) {
    throw new Problem('invalidRequest', {
      message: 'Recordings with dates and recordings without dates must be exported apart.',
    });
  }
  if (cellsOf(wanted, question) > maxCells) {
    throw new Problem('invalidRequest', {
      message: `An export has at most ${maxCells} cells; ask for fewer channels or a shorter time.`,
    });
  }
  return wanted;
}

async function openExport(
  services: Services,
  question: ChannelQuestion,
  wanted: readonly RequestedChannel[],
  format: 'csv' | 'parquet',
): Promise<Readable> {
  const sources = recordingsOf(wanted);
  return readRecordings(services, question, wanted, (reader, request) =>
    reader.export({
      ...request,
      format,
      timesAre: timesOf(sources),
      recordings: sources.map(({ name }) => name),
      columns: columnsOf(wanted, sources),
    }),
  );
}

function timesOf(sources: readonly RequestedChannel['source'][]): ExportedTimes {
  if (sources.every(hasRowNumbers)) return 'row-numbers';
  return sources.some(({ time }) => time.kind === 'relative') ? 'seconds' : 'dates';
}

/** About how many: rows count as evenly spread. */
function cellsOf(wanted: readonly RequestedChannel[], { from, to }: ChannelQuestion): number {
  return wanted.reduce((sum, { source }) => {
    const [first, last] = [Date.parse(source.time.from ?? ''), Date.parse(source.time.to ?? '')];
    const shown = Math.min(to?.getTime() ?? last, last) - Math.max(from?.getTime() ?? first, first);
    const share = last > first ? Math.max(0, shown / (last - first)) : 1;
    return sum + source.rowCount * (Number.isFinite(share) ? share : 1);
  }, 0);
}

/** Channels of one name and unit share a column where they are of several recordings. */
function columnsOf(
  wanted: readonly RequestedChannel[],
  sources: readonly RequestedChannel['source'][],
): ExportColumn[] {
  const columns: { name: string; types: Set<string>; channels: (string | null)[] }[] = [];
  const taken = new Set<string>([timeHeadings[timesOf(sources)]]);
  if (sources.length > 1) taken.add(recordingHeading);
  for (const { source, channel } of wanted) {
    const place = sources.indexOf(source);
    const label = channel.unit ? `${channel.name} [${channel.unit}]` : channel.name;
    const known = columns.find(({ name, channels }) => name === label && channels[place] === null);
    if (known !== undefined) {
      known.channels[place] = channel.id;
      known.types.add(channel.type);
      continue;
    }
    let name = label;
    // DuckDB does not distinguish upper and lower case.
    for (let count = 2; taken.has(name.toLowerCase()); count++) name = `${label} (${count})`;
    taken.add(name.toLowerCase());
    const channels = sources.map((_, index) => (index === place ? channel.id : null));
    columns.push({ name, types: new Set([channel.type]), channels });
  }
  return columns.map(({ name, types, channels }) => ({ name, type: typeOf(types), channels }));
}

function typeOf(types: ReadonlySet<string>): ExportColumn['type'] {
  const [only = 'number'] = types;
  if (types.size === 1 && (only === 'boolean' || only === 'integer')) return only;
  return [...types].every((type) => type === 'number' || type === 'integer') ? 'number' : 'text';
}

export const exportRoutes = [exported, askExport];
