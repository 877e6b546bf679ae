/** Configuration entries (contract: Platform configuration; decisions 13). */
import type { ValueType } from '../../domain/configuration.ts';
import { isConfigurationValue } from '../../domain/configuration.ts';
import type { Database, Queryable } from '../connection/database.ts';
import { once } from '../connection/idempotency.ts';

export interface ConfigurationRow {
  readonly id: number;
  readonly name: string;
  readonly valueType: ValueType;
  readonly value: string;
  readonly description: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface NewConfiguration {
  readonly name: string;
  readonly valueType: ValueType;
  readonly value: string;
  readonly description: string;
}

/** What an update names; the rest stays as it is. */
export type ConfigurationChange = {
  readonly [Field in keyof NewConfiguration]?: NewConfiguration[Field] | undefined;
};

export type ConfigurationWrite =
  | { readonly outcome: 'saved'; readonly entry: ConfigurationRow }
  | { readonly outcome: 'missing' | 'name-taken' | 'value-unfit' };

const columns =
  'id, name, value_type as "valueType", value, description, created_at as "createdAt", updated_at as "updatedAt"';

/** All entries whose name starts with `prefix`, by name. */
export async function listConfiguration(database: Queryable, prefix = ''): Promise<ConfigurationRow[]> {
  return database.query<ConfigurationRow>(
    `select ${columns} from configuration where starts_with(name, $1) order by name`,
    [prefix],
  );
}

/** Makes an entry whose name and value have been checked; `name-taken` when another has its name or its place. */
export async function createConfiguration(
  database: Database,
  entry: NewConfiguration,
): Promise<ConfigurationWrite> {
  return database.transaction(
    once(
      async (tx): Promise<ConfigurationWrite> => {
        const [row] = await tx.query<ConfigurationRow>(
          `insert into configuration (name, value_type, value, description) values ($1, $2, $3, $4)
           on conflict do nothing returning ${columns}`,
          [entry.name, entry.valueType, entry.value, entry.description],
        );
        return row === undefined ? { outcome: 'name-taken' } : { outcome: 'saved', entry: row };
      },
      ({ outcome }) => outcome === 'saved',
    ),
  );
}

/** Changes what `change` names. Value and type must fit together afterwards, whichever of them is new. */
export async function updateConfiguration(
  database: Database,
  name: string,
  change: ConfigurationChange,
): Promise<ConfigurationWrite> {
  try {
    return await database.transaction(async (tx) => {
      const [stored] = await tx.query<ConfigurationRow>(
        `select ${columns} from configuration where name = $1 for update`,
        [name],
      );
      if (stored === undefined) return { outcome: 'missing' };
      const valueType = change.valueType ?? stored.valueType;
      const value = change.value ?? stored.value;
      if (!isConfigurationValue(valueType, value)) return { outcome: 'value-unfit' };
      const [row] = await tx.query<ConfigurationRow>(
        `update configuration
            set name = $2, value_type = $3, value = $4, description = $5, updated_at = clock_timestamp()
          where id = $1 returning ${columns}`,
        [stored.id, change.name ?? stored.name, valueType, value, change.description ?? stored.description],
      );
      return { outcome: 'saved', entry: row! };
    });
  } catch (error) {
    if ((error as { code?: string }).code === uniqueViolation) return { outcome: 'name-taken' };
    throw error;
  }
}

const uniqueViolation = '23505';
