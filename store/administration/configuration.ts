/** Configuration entries (contract: Platform configuration; decisions 13). */
import { LockMode } from '@mikro-orm/core';
import type { ValueType } from '../../domain/configuration.ts';
import { isConfigurationValue } from '../../domain/configuration.ts';
import type { Database, EntityReader, Tx } from '../connection/database.ts';
import { oncePerKey } from '../connection/idempotency.ts';
import { escapeLike } from '../connection/like.ts';
import { ConfigurationEntry } from '../entities/configuration-entry.ts';
import { definedFields } from '../entities/defined-fields.ts';
import { onUniqueViolation } from '../entities/refusals.ts';
import { now } from '../entities/times.ts';

export interface NewConfiguration {
  readonly name: string;
  readonly valueType: ValueType;
  readonly value: string;
  readonly description: string;
}

/** The fields of an update; absent ones stay unchanged. */
export type ConfigurationChange = {
  readonly [Field in keyof NewConfiguration]?: NewConfiguration[Field] | undefined;
};

export type ConfigurationWrite =
  | { readonly outcome: 'saved'; readonly entry: ConfigurationEntry }
  | { readonly outcome: 'missing' | 'name-taken' | 'value-unfit' };

/** All entries whose name starts with `prefix`, by name. */
export async function listConfiguration(database: EntityReader, prefix = ''): Promise<ConfigurationEntry[]> {
  const where = { name: { $like: `${escapeLike(prefix)}%` } };
  return database.em.find(ConfigurationEntry, where, { orderBy: { name: 'asc' } });
}

/** Makes an entry whose name and value have been checked; `name-taken` when another has its name or its place. */
export async function createConfiguration(
  database: Database,
  { name, valueType, value, description }: NewConfiguration,
): Promise<ConfigurationWrite> {
  const work = async ({ em }: Tx): Promise<ConfigurationWrite> => {
    const entry = em.create(ConfigurationEntry, { name, valueType, value, description });
    await em.flush();
    return { outcome: 'saved', entry };
  };
  return database.transaction(oncePerKey(work)).catch(onUniqueViolation({ outcome: 'name-taken' }));
}

/** Changes the fields of `change`. Value and type must match afterwards, whichever of them is new. */
export async function updateConfiguration(
  database: Database,
  name: string,
  change: ConfigurationChange,
): Promise<ConfigurationWrite> {
  const work = async ({ em }: Tx): Promise<ConfigurationWrite> => {
    const entry = await em.findOne(ConfigurationEntry, { name }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (entry === null) return { outcome: 'missing' };
    if (definedFields(change) === null) return { outcome: 'saved', entry };
    const valueType = change.valueType ?? entry.valueType;
    const value = change.value ?? entry.value;
    if (!isConfigurationValue(valueType, value)) return { outcome: 'value-unfit' };
    const { name: newName = name, description = entry.description } = change;
    Object.assign(entry, { name: newName, valueType, value, description, updatedAt: now() });
    await em.flush();
    return { outcome: 'saved', entry };
  };
  return database.transaction(work).catch(onUniqueViolation({ outcome: 'name-taken' }));
}
