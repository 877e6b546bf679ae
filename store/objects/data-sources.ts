/** Data sources: the S3-compatible stores that hold the bytes of outputs (decisions 4). */
import { LockMode } from '@mikro-orm/core';
import type { Database, EntityReader, Queryable, Tx } from '../connection/database.ts';
import { oncePerKey } from '../connection/idempotency.ts';
import { DataSource } from '../entities/data-source.ts';
import { onForeignKeyViolation, onUniqueViolation } from '../entities/refusals.ts';
import { now } from '../entities/times.ts';
import type { SecretBox } from './secrets.ts';

/** The data source that always exists; its place and keys come from the environment. */
export const platformDataSourceName = 'platform';
/** The data source that the single-machine start registers. */
const defaultDataSourceName = 'default';
const secretPurpose = 'data-source secret access key';

export type DataSourceRow = Pick<DataSource, (typeof fields)[number]>;

/** Where an S3-compatible store is, and how to sign in. */
export interface S3Access {
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly prefix: string;
  readonly forcePathStyle: boolean;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Signs in with this process's identity (a machine's role, ...), without keys: the platform's own store alone. */
  readonly usesOwnIdentity?: boolean;
}

const fields = [
  'id',
  'name',
  'kind',
  'endpoint',
  'region',
  'bucket',
  'prefix',
  'forcePathStyle',
  'accessKeyId',
  'secretCiphertext',
  'createdAt',
  'updatedAt',
] as const satisfies ReadonlyArray<keyof DataSource>;

/** The select list of a {@link DataSourceRow} for joins: `table` as named in the statement, `before` put before each name. */
export function dataSourceColumns(table: string, before = ''): string {
  const column = (field: string) => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return fields.map((field) => `${table}.${column(field)} as "${before}${field}"`).join(', ');
}

const columns = dataSourceColumns('d');

/** By a statement, because every upload reads it. Undefined when no data source has this name. */
export async function findDataSourceByName(
  database: Queryable,
  name: string,
): Promise<DataSourceRow | undefined> {
  const [row] = await database.query<DataSourceRow>(
    `select ${columns} from data_source d where d.name = $1`,
    [name],
  );
  return row;
}

/** Undefined when there is none with this id. */
export async function findDataSource(database: Queryable, id: number): Promise<DataSourceRow | undefined> {
  const [row] = await database.query<DataSourceRow>(`select ${columns} from data_source d where d.id = $1`, [
    id,
  ]);
  return row;
}

/** All data sources by name. */
export async function listDataSources({ em }: EntityReader): Promise<DataSourceRow[]> {
  return em.find(DataSource, {}, { orderBy: { name: 'asc' } });
}

export type DataSourceWrite =
  | { readonly outcome: 'saved'; readonly dataSource: DataSourceRow }
  | { readonly outcome: 'missing' | 'name-taken' | 'changed' };

/** Registers a data source; the secret is stored encrypted. */
export async function createDataSource(
  database: Database,
  secrets: SecretBox,
  name: string,
  access: S3Access,
): Promise<DataSourceWrite> {
  const work = async ({ em }: Tx): Promise<DataSourceWrite> => {
    const dataSource = em.create(DataSource, { name, kind: 's3', ...placeOf(access, secrets) });
    await em.flush();
    return { outcome: 'saved', dataSource };
  };
  return database.transaction(oncePerKey(work)).catch(onUniqueViolation({ outcome: 'name-taken' }));
}

/**
 * Moves a data source to this place; its outputs are read from there from now on. `changed`: another change came first
 * since it was read, and nothing is written.
 */
export async function updateDataSource(
  database: Database,
  secrets: SecretBox,
  { id, secretCiphertext }: DataSourceRow,
  access: S3Access,
): Promise<DataSourceWrite> {
  return database.transaction(async ({ em }): Promise<DataSourceWrite> => {
    const dataSource = await em.findOne(DataSource, id, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (dataSource === null) return { outcome: 'missing' };
    // Each write encrypts the secret anew, and no two of its texts are equal.
    if (dataSource.secretCiphertext !== secretCiphertext) return { outcome: 'changed' };
    Object.assign(dataSource, placeOf(access, secrets), { updatedAt: now() });
    await em.flush();
    return { outcome: 'saved', dataSource };
  });
}

/** As columns, the secret encrypted. */
function placeOf(access: S3Access, secrets: SecretBox) {
  const { endpoint, region, bucket, prefix, forcePathStyle, accessKeyId, secretAccessKey } = access;
  const secretCiphertext = secrets.encrypt(secretAccessKey, secretPurpose);
  return { endpoint, region, bucket, prefix, forcePathStyle, accessKeyId, secretCiphertext };
}

/** `in-use`: outputs, or bytes on their way in or out, are in it. */
export async function deleteDataSource(
  database: Database,
  name: string,
): Promise<'deleted' | 'missing' | 'in-use'> {
  const work = async ({ em }: Tx) =>
    (await em.nativeDelete(DataSource, { name })) > 0 ? 'deleted' : 'missing';
  return database.transaction(work).catch(onForeignKeyViolation('in-use' as const));
}

/**
 * Registers the data source `default` at the platform's own store, for installations that want one; or follows that
 * store to its new address. One that an operator has moved elsewhere, recognised by other keys, stays unchanged.
 */
export async function ensureDefaultDataSource(
  database: Queryable,
  secrets: SecretBox,
  access: S3Access,
): Promise<void> {
  await database.query(
    `insert into data_source as d
            (name, kind, endpoint, region, bucket, prefix, force_path_style, access_key_id, secret_ciphertext)
     values ($1, 's3', $2, $3, $4, $5, $6, $7, $8)
     on conflict (name) do update
        set endpoint = excluded.endpoint, secret_ciphertext = excluded.secret_ciphertext,
            updated_at = clock_timestamp()
      where d.access_key_id = excluded.access_key_id and d.endpoint <> excluded.endpoint`,
    [defaultDataSourceName, ...Object.values(placeOf(access, secrets))],
  );
}

/**
 * Makes sure that the data source `platform` exists and shows where the environment places it. Its keys are not
 * stored. Call it once at the start of a process.
 */
export async function ensurePlatformDataSource(
  database: Queryable,
  access: Omit<S3Access, 'accessKeyId' | 'secretAccessKey'>,
): Promise<DataSourceRow> {
  await database.query(
    `insert into data_source as d (name, kind, endpoint, region, bucket, prefix, force_path_style)
     values ($1, 's3', $2, $3, $4, $5, $6)
     on conflict (name) do update
        set kind = 's3', endpoint = excluded.endpoint, region = excluded.region, bucket = excluded.bucket,
            prefix = excluded.prefix, force_path_style = excluded.force_path_style, updated_at = clock_timestamp()
      where (d.kind, d.endpoint, d.region, d.bucket, d.prefix, d.force_path_style)
            is distinct from ('s3', excluded.endpoint, excluded.region, excluded.bucket, excluded.prefix,
                              excluded.force_path_style)`,
    [
      platformDataSourceName,
      access.endpoint,
      access.region,
      access.bucket,
      access.prefix,
      access.forcePathStyle,
    ],
  );
  return (await findDataSourceByName(database, platformDataSourceName))!;
}

/**
 * How to reach a data source's store. `platform` comes from the environment, whatever its row shows.
 * @throws SecretUnreadable
 */
export function accessOf(row: DataSourceRow, platform: S3Access, secrets: SecretBox): S3Access {
  if (row.name === platformDataSourceName) return platform;
  return {
    endpoint: row.endpoint,
    region: row.region,
    bucket: row.bucket,
    prefix: row.prefix,
    forcePathStyle: row.forcePathStyle,
    accessKeyId: row.accessKeyId ?? '',
    secretAccessKey:
      row.secretCiphertext === null ? '' : secrets.decrypt(row.secretCiphertext, secretPurpose),
  };
}
