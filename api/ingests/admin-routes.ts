/** Administration of managed ingests (contract: Managed ingest; decisions 8). */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import type { Ingest } from '../../store/entities/ingest.ts';
import {
  createIngest,
  deleteIngest,
  findIngest,
  type IngestWrite,
  listIngests,
  rotateIngestSecret,
  updateIngest,
} from '../../store/ingests/ingests.ts';
import { peopleOf } from '../identity/participants.ts';
import { defineRoute } from '../route.ts';
import type { Services } from '../services.ts';
import { presentIngest } from './present.ts';
import {
  ingestChangeSchema,
  ingestParams,
  ingestSchema,
  ingestWithSecretSchema,
  newIngestSchema,
} from './schema.ts';
import { newSecret } from './secret.ts';

const tags = ['Managed ingest'] as const;
const path = '/api/v2/admin/ingests';
const params = ingestParams;

const list = defineRoute({
  id: 'listIngests',
  method: 'GET',
  path,
  summary: 'Lists all managed ingests, without their secrets',
  description:
    'Sorted by path. `secretHint` has the last four characters of the secret; they are a checksum and reveal nothing.',
  tags,
  access: access.admin,
  responses: { 200: { description: 'The ingests, by path.', schema: z.array(ingestSchema) } },
  async handler({ services }) {
    return { status: 200, body: (await listIngests(services.database)).map(presentIngest) };
  },
});

const one = defineRoute({
  id: 'getIngest',
  method: 'GET',
  path: `${path}/{id}`,
  summary: 'Returns a managed ingest',
  description: 'Without its secret, which is shown only at creation.',
  tags,
  access: access.admin,
  params,
  responses: { 200: { description: 'The ingest.', schema: ingestSchema } },
  errors: ['ingestNotFound'],
  refusals: { params: 'ingestNotFound' },
  async handler({ services, params }) {
    return { status: 200, body: presentIngest(await existing(services, params.id)) };
  },
});

const create = defineRoute({
  id: 'createIngest',
  method: 'POST',
  path,
  summary: 'Creates a managed ingest; its secret is shown once',
  description: 'Sessions that it creates belong to the caller of this route.',
  tags,
  access: access.admin,
  audit: { object: 'ingest' },
  idempotent: 'secret',
  body: newIngestSchema,
  responses: { 201: { description: 'The ingest, with its secret.', schema: ingestWithSecretSchema } },
  errors: ['invalidIngest', 'ingestExists'],
  refusals: { body: 'invalidIngest' },
  async handler(context) {
    const { services, body } = context;
    const secret = newSecret(services.objects.secrets);
    const write = await createIngest(services.database, body, secret.stored, peopleOf(context).caller);
    return { status: 201, body: { ...presentIngest(saved(write)), secret: secret.value } };
  },
});

const update = defineRoute({
  id: 'updateIngest',
  method: 'PUT',
  path: `${path}/{id}`,
  summary: 'Updates a managed ingest',
  description: 'An absent field does not change. The secret does not change.',
  tags,
  access: access.admin,
  audit: { object: 'ingest', from: 'id' },
  params,
  body: ingestChangeSchema,
  responses: { 200: { description: 'The ingest.', schema: ingestSchema } },
  errors: ['ingestNotFound', 'invalidIngest', 'ingestExists'],
  refusals: { params: 'ingestNotFound', body: 'invalidIngest' },
  async handler({ services, params, body }) {
    const given = Object.entries(body).filter(([, value]) => value !== null);
    const write = await updateIngest(services.database, params.id, Object.fromEntries(given));
    return { status: 200, body: presentIngest(saved(write)) };
  },
});

const remove = defineRoute({
  id: 'deleteIngest',
  method: 'DELETE',
  path: `${path}/{id}`,
  summary: 'Deletes a managed ingest',
  description: 'Its URL answers 404 from now on. The sessions that it created remain.',
  tags,
  access: access.admin,
  audit: { object: 'ingest', from: 'id' },
  params,
  responses: { 204: { description: 'Removed.' } },
  errors: ['ingestNotFound'],
  refusals: { params: 'ingestNotFound' },
  async handler({ services, params }) {
    if (!(await deleteIngest(services.database, params.id))) throw new Problem('ingestNotFound');
    return { status: 204 };
  },
});

const rotate = defineRoute({
  id: 'rotateIngestSecret',
  method: 'POST',
  path: `${path}/{id}/rotate-secret`,
  summary: 'Replaces the secret of a managed ingest',
  description: 'The old secret is refused from now on. The new one is shown once.',
  tags,
  access: access.admin,
  audit: { object: 'ingest', from: 'id' },
  idempotent: 'secret',
  params,
  responses: { 200: { description: 'The ingest, with its new secret.', schema: ingestWithSecretSchema } },
  errors: ['ingestNotFound'],
  refusals: { params: 'ingestNotFound' },
  async handler({ services, params }) {
    const secret = newSecret(services.objects.secrets);
    if (!(await rotateIngestSecret(services.database, params.id, secret.stored)))
      throw new Problem('ingestNotFound');
    const ingest = await existing(services, params.id);
    return { status: 200, body: { ...presentIngest(ingest), secret: secret.value } };
  },
});

async function existing(services: Services, id: number): Promise<Ingest> {
  const ingest = await findIngest(services.database, id);
  if (ingest === undefined) throw new Problem('ingestNotFound');
  return ingest;
}

const unknownReferences: Readonly<
  Record<Exclude<IngestWrite['outcome'], 'saved' | 'missing' | 'path-taken'>, string>
> = {
  'project-unknown': 'projectId does not name a project.',
  'template-unknown': 'sessionTemplateId does not name a session template.',
  'node-unknown': 'inputNode does not name an Input node of the session template.',
  'data-source-unknown': 'dataSource does not name a registered data source.',
};

function saved(write: IngestWrite): Ingest {
  switch (write.outcome) {
    case 'saved':
      return write.ingest;
    case 'missing':
      throw new Problem('ingestNotFound');
    case 'path-taken':
      throw new Problem('ingestExists');
    default:
      throw new Problem('invalidIngest', { message: unknownReferences[write.outcome] });
  }
}

export const ingestAdminRoutes = [list, one, create, update, remove, rotate];
