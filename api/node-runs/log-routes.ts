/** The log of a run: page by page, or followed while it comes. */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import { type LogFilter, logLevels } from '../../domain/runs/run-log.ts';
import { eventStreamHeaders } from '../../http/bodies/event-stream.ts';
import { integerParameter, optionalText } from '../../http/schemas.ts';
import { type LogPage, readRunLog } from '../../store/run-logs/read-log.ts';
import { defineRoute } from '../route.ts';
import { isStillAllowed } from '../session-guard.ts';
import { followLog } from './follow-log.ts';
import { logEntrySchema, logPageSchema, presentLogPage } from './log-page.ts';
import { runsPath } from './run-routes.ts';
import { runParams } from './schema.ts';

const optionalInteger = (max: number) =>
  z
    .string()
    .regex(/^\d{0,16}$/, { error: `must be an integer from 0 to ${max}` })
    .transform((text) => (text === '' ? undefined : Number(text)))
    .refine((value) => value === undefined || value <= max, { error: `must be an integer from 0 to ${max}` })
    .optional()
    .meta({ type: 'integer', minimum: 0 });

/** The number of an attempt in a query. */
export const attemptParameter = optionalInteger(limits.maxInt32);

const logQuerySchema = z.object({
  attempt: attemptParameter.meta({
    description: 'Only lines of this attempt.',
    example: 1,
  }),
  after: optionalInteger(limits.maxId).meta({
    description: 'Only lines after this position: `next` of the page before.',
    example: 1_807_535_001_600_000,
  }),
  limit: integerParameter({
    min: 1,
    max: limits.logPageEntriesMax,
    initial: limits.logPageEntriesDefault,
  }).meta({ description: 'Most lines of a page.' }),
  level: z
    .enum(logLevels)
    .optional()
    .meta({ description: 'Only lines of this level and those above it.', example: 'warning' }),
  search: optionalText(limits.logSearchCharacters).optional().meta({
    description: 'Only lines whose message or fields contain this text, in any case.',
    example: 'lap 3',
  }),
});

const allowed = access.runRead;

const readLog = defineRoute({
  id: 'readRunLog',
  method: 'GET',
  path: `${runsPath}/{runId}/logs`,
  share: 'runLogs',
  summary: 'Returns the log of a run: what its runners wrote, and the platform’s own lines between',
  description: `A page may hold fewer lines than \`limit\`, or none, before the end: go on from \`next\` until \`complete\`. Of a run that is not done, lines appear half a second after they came.

With \`Accept: text/event-stream\` the log is followed: an event \`entry\` with a line (\`RunLogEntry\`) and its position as \`id\`, which is sent back as \`Last-Event-ID\` to continue; at the end of the run an event \`end\`. Logs are kept with the session, for RUN_LOG_DAYS days at most.`,
  tags: ['Runs'],
  access: allowed,
  params: runParams,
  query: logQuerySchema,
  headers: z.object({
    accept: z
      .string()
      .optional()
      .meta({ description: '`text/event-stream` to follow the log.', example: 'text/event-stream' }),
    'last-event-id': z.string().optional().meta({
      description: 'The id of the last event that was received; anything else counts as none.',
      example: '1807535001600000',
    }),
  }),
  responses: {
    200: {
      description: 'One page, or the lines as they come.',
      schema: logPageSchema,
      media: 'text/event-stream',
      pieces: [logEntrySchema],
      example: 'event: end\ndata: {}\n\n',
    },
  },
  errors: ['nodeRunNotFound', 'unavailable'],
  refusals: { params: 'nodeRunNotFound' },
  async handler({ params, query, headers, principal, services, request, requestId, shutdown }) {
    const { after, limit, ...filter } = query;
    const from = after ?? placeOf(headers['last-event-id']);
    const read = (position: number) => readPage(services, params.runId, filter, { after: position, limit });
    const first = await read(from);
    if (!headers.accept?.includes('text/event-stream')) {
      return { status: 200, body: presentLogPage(first) };
    }
    const call = { params, headers: request.headers, principal, requestId };
    const isAllowed = () => isStillAllowed(services, { id: 'readRunLog', access: allowed }, call);
    return {
      status: 200,
      stream: followLog({ first, read, isAllowed, shutdown }),
      headers: eventStreamHeaders,
    };
  },
});

async function readPage(
  { database }: { readonly database: Parameters<typeof readRunLog>[0] },
  runId: string,
  filter: LogFilter,
  page: { readonly after: number; readonly limit: number },
): Promise<LogPage> {
  const found = await readRunLog(database, runId, filter, page);
  if (found === undefined) throw new Problem('nodeRunNotFound');
  return found;
}

const placeOf = (lastEventId: string | undefined) =>
  lastEventId !== undefined && /^\d{1,16}$/.test(lastEventId) ? Number(lastEventId) : 0;

export const runLogRoutes = [readLog];
