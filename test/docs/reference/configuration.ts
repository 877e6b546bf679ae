/** docs/reference/configuration.md: every variable, from its schema and the comment above it. */
import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import { seriesSettings } from '../../../api/dashboards/series-service.ts';
import { apiSettings } from '../../../api/settings.ts';
import { authMigrateSettings, authServerSettings, authSettings } from '../../../auth/settings.ts';
import {
  checkout,
  databaseSettings as startDatabase,
  startSettings,
  ownStore as startStore,
  temporalSettings as startTemporal,
} from '../../../local/settings.ts';
import { databaseSettings, reportDatabaseSettings } from '../../../store/connection/settings.ts';
import { objectSettings } from '../../../store/objects/settings.ts';
import { stagingSettings } from '../../../store/objects/staging-settings.ts';
import { telemetrySettings } from '../../../telemetry/settings.ts';
import { runnerHostSettings } from '../../../worker/runner-host/settings.ts';
import { workerSettings } from '../../../worker/settings.ts';
import { temporalSettings } from '../../../workflows/settings.ts';
import { code, generated, table } from './table.ts';

interface Part {
  readonly title: string;
  readonly about: string;
  /** Where the variables are described, each by the comment above it or by its schema. */
  readonly file: string;
  readonly schemas: readonly z.ZodObject[];
  /** No variable is required: a schema requires one only together with others. */
  readonly asksForNothing?: boolean;
}

const parts: readonly Part[] = [
  {
    title: 'npm start',
    about:
      'Variables for operators. `npm start` derives all variables below from them; a variable that is set overrides ' +
      'the derived one.',
    file: 'local/settings.ts',
    schemas: [startSettings, startDatabase, startTemporal, startStore],
    asksForNothing: true,
  },
  {
    title: 'API',
    about: 'Read by `api/main.ts`.',
    file: 'api/settings.ts',
    schemas: [apiSettings],
  },
  {
    title: 'Dashboards',
    about: 'Read by `api/main.ts`: the process that reads series, and its cache.',
    file: 'api/dashboards/series-service.ts',
    schemas: [seriesSettings],
  },
  {
    title: 'Database',
    about: '`DATABASE_URL` is read by API and workers, the others by the API only.',
    file: 'store/connection/settings.ts',
    schemas: [databaseSettings, reportDatabaseSettings],
  },
  {
    title: 'Object store',
    about: 'Read by API and workers.',
    file: 'store/objects/settings.ts',
    schemas: [objectSettings],
  },
  {
    title: 'Uploads in progress',
    about: 'Read by API and workers: the buffer for bytes on the way to the store.',
    file: 'store/objects/staging-settings.ts',
    schemas: [stagingSettings],
  },
  {
    title: 'Workflow engine',
    about: 'Read by API and workers.',
    file: 'workflows/settings.ts',
    schemas: [temporalSettings],
  },
  {
    title: 'Workers',
    about: 'Read by `worker/main.ts`, with and without `--queue builtin`.',
    file: 'worker/settings.ts',
    schemas: [workerSettings],
  },
  {
    title: 'Runner host',
    about: 'Read by `worker/runner-host/main.ts`, which starts deployed runners.',
    file: 'worker/runner-host/settings.ts',
    schemas: [runnerHostSettings],
  },
  {
    title: 'Telemetry',
    about:
      'Read by every process. Traces are exported when `OTEL_EXPORTER_OTLP_ENDPOINT` is set; the other variables of ' +
      'OpenTelemetry apply too.',
    file: 'telemetry/settings.ts',
    schemas: [telemetrySettings],
  },
  {
    title: 'Authentication service',
    about:
      'Read by the API if it includes the service, and by `auth/main.ts` for a separate service (`PORT` is 8081 there).',
    file: 'auth/settings.ts',
    schemas: [authSettings, authMigrateSettings, authServerSettings],
  },
];

/** Variables that several files declare without a comment. */
const common: Readonly<Record<string, string>> = {
  LOG_LEVEL: 'Least severe level that is logged.',
  HOST: 'Address to listen on; absent: every interface.',
  PORT: 'Port to listen on.',
  RESPONSE_CHECKS: '`strict` turns an undeclared response into a 500; for tests.',
  SERIES_CACHE_MB: 'Maximum size of `SERIES_CACHE_DIR`, in megabytes.',
  SERIES_EXPORT_MB:
    'Longest file of an export, in megabytes. Files of up to 4 exports at once are there beside the copies, each until it is read.',
};

export function configurationPage(): string {
  const sections = parts.map(({ title, about, file, schemas, asksForNothing = false }) => {
    const source = readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');
    const shape = Object.assign({}, ...schemas.map((schema) => schema.shape)) as Record<string, z.ZodType>;
    const rows = Object.entries(shape).map(([name, schema]) => rowOf(name, schema, source, asksForNothing));
    return `## ${title}\n\n${about}\n\n${table(['Variable', 'Meaning', 'Values', 'Default'], rows)}\n`;
  });
  return `${generated}
# Settings

Every process reads its environment once, at its start. An invalid or missing variable ends the start, with one line for each;
an empty variable counts as absent. Variables marked *secret* may be read from a file instead: set the name
with the suffix \`_FILE\` to the file's path. How to set them for an installation:
[Install](../operations/install.md).

${sections.join('\n')}`;
}

function rowOf(name: string, schema: z.ZodType, source: string, asksForNothing: boolean): string[] {
  const comment = new RegExp(`/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\s*${name}:`).exec(source)?.[1];
  const meaning =
    comment?.replaceAll(/\s*\n\s*\* ?/g, ' ').trim() ?? schema.description ?? common[name] ?? '';
  const isSecret = (schema.meta() as { secret?: boolean } | undefined)?.secret === true;
  return [
    code(name),
    `${meaning}${isSecret ? ' *Secret.*' : ''}`,
    valuesOf(schema),
    defaultOf(schema, asksForNothing),
  ];
}

/** The schema's own message for an invalid value. */
function valuesOf(schema: z.ZodType): string {
  const issue = schema.safeParse('\u0001').error?.issues[0];
  if (issue === undefined) return 'text';
  const { values } = issue as { values?: readonly unknown[] };
  if (values !== undefined && !issue.message.startsWith('must')) return values.map(String).join(', ');
  return issue.message.replace(/^must (be|hold) (an? )?/, '');
}

function defaultOf(schema: z.ZodType, asksForNothing: boolean): string {
  const parsed = schema.safeParse(undefined);
  if (!parsed.success) return asksForNothing ? '' : '**required**';
  const { data } = parsed;
  if (data === undefined || data === '') return '';
  if (String(data).startsWith(checkout))
    return `${code(String(data).slice(checkout.length))} in the checkout`;
  return code(Array.isArray(data) ? data.join(',') : String(data));
}
