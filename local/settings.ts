import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { hostAndPort, publicAddress, secretVariables } from '../domain/settings.ts';
import { databaseAddress } from '../settings/database-address.ts';
import { withKeyPair } from '../settings/key-pair.ts';
import { readSettings } from '../settings/read.ts';

import { DEFAULT_BUCKET, DEFAULT_REGION, type ObjectStoreAccess } from './object-store.ts';
import type { ExternalServers } from './stack.ts';

/** The checkout. */
export const checkout = fileURLToPath(new URL('../', import.meta.url));

const port = z.coerce.number('must be a port number').int('must be a port number').min(1).max(65_535);

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

export const startSettings = z.object({
  /** Port of the console and the API. */
  PORT: port.default(8080),
  /**
   * Address to listen on, over plain HTTP. 127.0.0.1: only this machine can connect; 0.0.0.0: every address of the
   * machine.
   */
  HOST: z.string().default('127.0.0.1'),
  /** Data folder; relative to the current folder. */
  DATA_DIR: z.string().default(resolve(checkout, '.data')),
  /** Password of the first Administrator; absent: a random one, printed once. */
  ADMIN_PASSWORD: z
    .string()
    .min(12, 'must have at least 12 characters')
    .max(256)
    .optional()
    .meta({ secret: true }),
  /** Public address of the platform, without a path. */
  PUBLIC_URL: publicAddress().optional(),
  /** Folder for temporary files. */
  TEMP_DIR: z.string().optional(),
  /** Folder of the deployed runners' modules; relative to the current folder. */
  SDK_RUNNERS_DIR: z.string().refine(isFolder, 'must be an existing folder').optional(),
  /** Port of the embedded PostgreSQL; absent: a free one, reused from then on. */
  POSTGRES_PORT: port.optional(),
  /** Port of the embedded Temporal; absent: a free one, reused from then on. */
  TEMPORAL_PORT: port.optional(),
  /** Port of the embedded Temporal UI; absent: a free one, reused from then on. */
  TEMPORAL_UI_PORT: port.optional(),
  /** Port of the embedded S3 gateway; absent: a free one, reused from then on. */
  S3_PORT: port.optional(),
});

/** Each of the three servers is embedded unless one of the caller's own is named. */
export const databaseSettings = z.object({
  DATABASE_URL: databaseAddress('A PostgreSQL of your own')
    .optional()
    .meta(databaseAddress('A PostgreSQL of your own').meta() ?? {}),
});

export const temporalSettings = z.object({
  /** A Temporal of your own. */
  TEMPORAL_ADDRESS: hostAndPort().optional(),
  /** Address of its UI, for links. */
  TEMPORAL_UI_URL: z.url({ protocol: /^https?$/, error: 'must be an address with http or https' }).optional(),
});

const embeddedStore = z.object({});
export const ownStore = withKeyPair(
  z.object({
    /** An object store of your own. The next five variables apply to it only. */
    S3_ENDPOINT: z.url({ protocol: /^https?$/, error: 'must be an address with http or https' }),
    /** Region of that store. */
    S3_REGION: z.string().default(DEFAULT_REGION),
    /** Bucket in that store; it must exist. */
    S3_BUCKET: z.string().default(DEFAULT_BUCKET),
    /** Key of that store. Without key and secret, the default AWS credential chain applies. */
    S3_ACCESS_KEY_ID: z.string().optional().meta({ secret: true }),
    /** Secret of that key. */
    S3_SECRET_ACCESS_KEY: z.string().optional().meta({ secret: true }),
    /** `true`: the bucket is part of the path; `false`: part of the host name. */
    S3_FORCE_PATH_STYLE: z.string().default('true'),
  }),
);

/** Secrets that are read here, and handed on as what they hold wherever they came from. */
export const secretsOfStart = secretVariables({
  start: startSettings,
  database: databaseSettings,
  store: ownStore,
});

/** The settings of a start, read once. */
export interface StartSettings {
  port: number;
  /** Address to listen on. */
  host: string;
  dataDir: string;
  adminPassword: string | undefined;
  publicUrl: string;
  /** Absent: a folder in the data folder, emptied at every start. */
  tempDir: string | undefined;
  /** Absent: the platform starts no runners itself. */
  sdkRunnersDir: string | undefined;
  ports: { postgres?: number; temporal?: number; temporalUi?: number; s3?: number };
  external: ExternalServers;
}

/** Reads the settings. Throws SettingsError with one line for each that is wrong or missing. */
export function readStartSettings(environment: NodeJS.ProcessEnv): StartSettings {
  const hasOwnStore = (environment.S3_ENDPOINT ?? '') !== '';
  const { start, database, temporal, store } = readSettings(
    {
      start: startSettings,
      database: databaseSettings,
      temporal: temporalSettings,
      store: hasOwnStore ? ownStore : embeddedStore,
    },
    environment,
  );
  return {
    port: start.PORT,
    host: start.HOST,
    dataDir: resolve(start.DATA_DIR),
    adminPassword: start.ADMIN_PASSWORD,
    publicUrl: start.PUBLIC_URL ?? `http://localhost:${start.PORT}`,
    tempDir: start.TEMP_DIR,
    sdkRunnersDir: start.SDK_RUNNERS_DIR === undefined ? undefined : resolve(start.SDK_RUNNERS_DIR),
    ports: defined({
      postgres: start.POSTGRES_PORT,
      temporal: start.TEMPORAL_PORT,
      temporalUi: start.TEMPORAL_UI_PORT,
      s3: start.S3_PORT,
    }),
    external: defined({
      databaseUrl: database.DATABASE_URL,
      temporalAddress: temporal.TEMPORAL_ADDRESS,
      temporalUiUrl: temporal.TEMPORAL_UI_URL,
      objectStore: hasOwnStore ? accessOf(store as unknown as z.output<typeof ownStore>) : undefined,
    }),
  };
}

function accessOf(store: z.output<typeof ownStore>): ObjectStoreAccess {
  return {
    endpoint: store.S3_ENDPOINT,
    region: store.S3_REGION,
    bucket: store.S3_BUCKET,
    accessKeyId: store.S3_ACCESS_KEY_ID ?? '',
    secretAccessKey: store.S3_SECRET_ACCESS_KEY ?? '',
    forcePathStyle: ['true', '1'].includes(store.S3_FORCE_PATH_STYLE),
  };
}

type Defined<T> = { [Name in keyof T]?: Exclude<T[Name], undefined> };

/** Leaves out what is undefined, since "absent" and "undefined" differ under exactOptionalPropertyTypes. */
function defined<T extends Record<string, unknown>>(values: T): Defined<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<T>;
}
