/** Data sources: the S3-compatible stores of outputs, as operators register them (decisions 4). */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { isMadeAlready } from '../../store/connection/idempotency.ts';
import {
  accessOf,
  createDataSource,
  type DataSourceRow,
  type DataSourceWrite,
  deleteDataSource,
  findDataSourceByName,
  listDataSources,
  platformDataSourceName,
  type S3Access,
  updateDataSource,
} from '../../store/objects/data-sources.ts';
import { SecretUnreadable } from '../../store/objects/secrets.ts';
import { presentDataSource } from '../node-instances/present.ts';
import { dataSourceSchema } from '../node-instances/schema.ts';
import { defineRoute } from '../route.ts';
import type { Services } from '../services.ts';
import { requireReachable } from './require-reachable.ts';
import { dataSourceChangeSchema, dataSourceParams, newDataSourceSchema } from './schema.ts';

const tags = ['Data sources'] as const;
const path = '/api/v2/admin/data-sources';
const params = dataSourceParams;
/** An update begins again after each other one that comes first. */
const maxTries = 10;

const list = defineRoute({
  id: 'listDataSources',
  method: 'GET',
  path,
  summary: 'Lists all data sources, without their keys',
  description: 'Sorted by name. `platform` is the store of the installation itself.',
  tags,
  access: access.admin,
  responses: { 200: { description: 'The data sources.', schema: z.array(dataSourceSchema) } },
  async handler({ services }) {
    return { status: 200, body: (await listDataSources(services.database)).map(presentDataSource) };
  },
});

const create = defineRoute({
  id: 'createDataSource',
  method: 'POST',
  path,
  summary: 'Registers an S3-compatible store',
  description:
    'The bucket must be reachable with these keys, else 400 with the reason. Details are in the log of the API, under ' +
    'the request id. ' +
    'Keys are stored encrypted and never returned.',
  tags,
  access: access.admin,
  audit: { object: 'dataSource', from: 'name' },
  idempotent: 'plain',
  body: newDataSourceSchema,
  responses: { 201: { description: 'The data source.', schema: dataSourceSchema } },
  errors: ['dataSourceUnreachable', 'dataSourceExists'],
  async handler({ services, log, body: { name, kind: _, ...place } }) {
    if (!isMadeAlready()) {
      if ((await findDataSourceByName(services.database, name)) !== undefined)
        throw new Problem('dataSourceExists');
      await requireReachable(services.objects, place, log);
    }
    const write = await createDataSource(services.database, services.objects.secrets, name, place);
    return { status: 201, body: presentDataSource(saved(write)) };
  },
});

const update = defineRoute({
  id: 'updateDataSource',
  method: 'PUT',
  path: `${path}/{name}`,
  summary: 'Updates a data source',
  description:
    'An absent field does not change, nor does an absent secret. The bucket must be reachable. `platform` cannot be changed.',
  tags,
  access: access.admin,
  audit: { object: 'dataSource', from: 'name' },
  params,
  body: dataSourceChangeSchema,
  responses: { 200: { description: 'The data source.', schema: dataSourceSchema } },
  errors: ['dataSourceNotFound', 'dataSourceUnreachable', 'platformDataSource'],
  refusals: { params: 'dataSourceNotFound' },
  async handler({ services, log, params, body: { name, kind: _, ...change } }) {
    if (name !== undefined && name !== params.name) {
      throw new Problem('invalidRequest', { message: 'A data source cannot be renamed.' });
    }
    // The bucket is asked outside the transaction; what others change meanwhile is kept, and asked with it.
    for (let tries = 0; tries < maxTries; tries += 1) {
      const stored = await findDataSourceByName(services.database, params.name);
      if (stored === undefined) throw missing(params.name);
      if (stored.name === platformDataSourceName) throw new Problem('platformDataSource');
      const place = changed(storedAccess(services, stored), change);
      await requireReachable(services.objects, place, log);
      const write = await updateDataSource(services.database, services.objects.secrets, stored, place);
      if (write.outcome !== 'changed')
        return { status: 200, body: presentDataSource(saved(write, stored.name)) };
    }
    throw new Problem('unavailable', { headers: { 'retry-after': '1' } });
  },
});

const remove = defineRoute({
  id: 'deleteDataSource',
  method: 'DELETE',
  path: `${path}/{name}`,
  summary: 'Deletes a data source that no output uses',
  description: 'Its objects are not deleted. `platform` cannot be deleted.',
  tags,
  access: access.admin,
  audit: { object: 'dataSource', from: 'name' },
  params,
  responses: { 204: { description: 'Removed.' } },
  errors: ['dataSourceNotFound', 'dataSourceInUse', 'platformDataSource'],
  refusals: { params: 'dataSourceNotFound' },
  async handler({ services, params: { name } }) {
    if (name === platformDataSourceName) throw new Problem('platformDataSource');
    const outcome = await deleteDataSource(services.database, name);
    if (outcome === 'missing') throw missing(name);
    if (outcome === 'in-use') throw new Problem('dataSourceInUse');
    return { status: 204 };
  },
});

function saved(write: DataSourceWrite, name = ''): DataSourceRow {
  if (write.outcome === 'saved') return write.dataSource;
  throw write.outcome === 'missing' ? missing(name) : new Problem('dataSourceExists');
}

const missing = (name: string) =>
  new Problem('dataSourceNotFound', { message: `Data source '${name}' not found.` });

/** When the keys were encrypted with another `SECRETS_KEY`, the caller has to send the secret again. */
function storedAccess({ objects }: Services, row: DataSourceRow): S3Access {
  try {
    return accessOf(row, objects.platformAccess, objects.secrets);
  } catch (error) {
    if (!(error instanceof SecretUnreadable)) throw error;
    return accessOf({ ...row, secretCiphertext: null }, objects.platformAccess, objects.secrets);
  }
}

type Change = { readonly [Field in keyof S3Access]?: S3Access[Field] | undefined };

function changed(stored: S3Access, change: Change): S3Access {
  const named = Object.entries(change).filter(([, value]) => value !== undefined);
  return { ...stored, ...(Object.fromEntries(named) as Partial<S3Access>) };
}

export const dataSourceRoutes = [list, create, update, remove];
