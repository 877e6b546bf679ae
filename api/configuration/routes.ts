/** Platform configuration (contract: Platform configuration; decisions 13). */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { groupConfiguration, isBelowPrefix, isConfigurationValue } from '../../domain/configuration.ts';
import { Problem } from '../../domain/errors.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import {
  type ConfigurationWrite,
  createConfiguration,
  listConfiguration,
  updateConfiguration,
} from '../../store/administration/configuration.ts';
import type { ConfigurationEntry } from '../../store/entities/configuration-entry.ts';
import { defineRoute } from '../route.ts';
import {
  configurationChangeSchema,
  configurationEntrySchema,
  configurationGroupsSchema,
  configurationName,
  newConfigurationSchema,
} from './schema.ts';

const tags = ['Configuration'] as const;

const all = defineRoute({
  id: 'listConfiguration',
  method: 'GET',
  path: '/config/all',
  summary: 'Lists the configuration entries that the caller may read, by group',
  description:
    'Administrators and Developers read all entries. Others read those under the public prefixes of this installation.',
  tags,
  access: access.configurationRead,
  query: z.object({
    prefix: z.string().default('').meta({
      description: 'Only entries whose name is this or starts with it.',
      example: 'PublicApi',
    }),
  }),
  responses: { 200: { description: 'The entries.', schema: configurationGroupsSchema } },
  async handler({ services, principal, query }) {
    const entries = await listConfiguration(services.database, query.prefix);
    const seesAll = principal.role === 'Administrator' || principal.role === 'Developer';
    const visible = seesAll
      ? entries
      : entries.filter(({ name }) => isBelowPrefix(name, services.settings.CONFIG_PUBLIC_PREFIXES));
    return { status: 200, body: groupConfiguration(visible.map(presentEntry)) };
  },
});

const create = defineRoute({
  id: 'createConfiguration',
  method: 'POST',
  path: '/config',
  summary: 'Creates a configuration entry',
  description:
    'The value must parse as its type. Two names with the same place in the grouped list conflict.',
  tags,
  access: access.configurationWrite,
  audit: { object: 'configuration', from: 'name' },
  idempotent: 'plain',
  body: newConfigurationSchema,
  responses: { 201: { description: 'The entry.', schema: configurationEntrySchema } },
  errors: ['invalidConfigurationName', 'invalidConfigurationValue', 'configurationExists'],
  refusals: { body: 'invalidConfigurationName' },
  async handler({ services, body }) {
    const { name, valueType, value } = body;
    if (!isConfigurationValue(valueType, value)) throw new Problem('invalidConfigurationValue');
    const write = await createConfiguration(services.database, {
      name,
      valueType,
      value,
      description: body.description ?? '',
    });
    return { status: 201, body: presentEntry(saved(write)) };
  },
});

const update = defineRoute({
  id: 'updateConfiguration',
  method: 'PUT',
  path: '/config/{name}',
  summary: 'Updates a configuration entry',
  description: 'An absent field does not change. A `name` other than that of the path renames the entry.',
  tags,
  access: access.configurationWrite,
  audit: { object: 'configuration', from: 'name' },
  params: z.object({ name: configurationName() }),
  body: configurationChangeSchema,
  responses: { 200: { description: 'The entry.', schema: configurationEntrySchema } },
  errors: ['configurationNotFound', 'invalidConfigurationValue', 'configurationExists'],
  refusals: { params: 'invalidConfigurationNameOnUpdate', body: 'invalidConfigurationNameOnUpdate' },
  async handler({ services, params, body }) {
    const write = await updateConfiguration(services.database, params.name, {
      name: body.name ?? undefined,
      valueType: body.valueType ?? undefined,
      value: body.value ?? undefined,
      description: body.description ?? undefined,
    });
    return { status: 200, body: presentEntry(saved(write)) };
  },
});

function saved(write: ConfigurationWrite): ConfigurationEntry {
  switch (write.outcome) {
    case 'saved':
      return write.entry;
    case 'missing':
      throw new Problem('configurationNotFound');
    case 'name-taken':
      throw new Problem('configurationExists');
    case 'value-unfit':
      throw new Problem('invalidConfigurationValue');
  }
}

function presentEntry(row: ConfigurationEntry): z.input<typeof configurationEntrySchema> {
  const { id, name, valueType, value, description, createdAt, updatedAt } = row;
  return {
    id,
    name,
    valueType,
    value,
    description,
    createdAt: formatTimestamp(createdAt),
    updatedAt: formatTimestamp(updatedAt),
  };
}

export const configurationRoutes = [all, create, update];
