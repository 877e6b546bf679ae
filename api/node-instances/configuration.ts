/** The configuration of one node: reading and changing it, its revisions and its schema. */
import { z } from 'zod';
import { access, decideAccess } from '../../domain/access/access.ts';
import { Problem, type ProblemKey } from '../../domain/errors.ts';
import { exampleValues } from '../../domain/examples.ts';
import { limits } from '../../domain/limits.ts';
import { configurationOf } from '../../domain/templates/node-configuration.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import { errorSchema } from '../../http/errors.ts';
import { freeJson, integerParameter, jsonObjectOut, timestampOut } from '../../http/schemas.ts';
import {
  type ConfigurationResult,
  changeConfiguration,
  findConfiguration,
  findConfigurationSchema,
  listRevisions,
  type StoredConfiguration,
} from '../../store/sessions/node-configuration.ts';
import { documentIssueSchema } from '../document-issue.ts';
import { etagHeader, etagOf, expectedRevision, ifMatchHeaders } from '../entity-tag.ts';
import { peopleOf } from '../identity/participants.ts';
import { defineRoute } from '../route.ts';
import { nodeInstanceParams } from './schema.ts';

const path = '/api/v2/node-instance/{nodeInstanceId}/configuration';
const tags = ['Node configuration'] as const;
const params = nodeInstanceParams;
const maxRevisions = 100;

const configurationExample = { inputFormat: 'csv', emitSuggestedLayout: true };
const revisionNumber = () =>
  z.int().meta({ description: 'Counts from 1, which is what the session template gave.' });

const configurationSchema = z
  .object({ revision: revisionNumber(), configuration: jsonObjectOut() })
  .meta({ id: 'NodeConfiguration', example: { revision: 2, configuration: configurationExample } });

const response = {
  description: 'The configuration, and its revision.',
  schema: configurationSchema,
  headers: etagHeader,
};

const read = defineRoute({
  id: 'getNodeConfiguration',
  method: 'GET',
  path,
  summary: 'Returns the configuration of a node',
  description:
    'Runs that are not yet claimed will have it. What an output was made with: the lineage of that output.',
  tags,
  access: access.nodeConfigurationRead,
  params,
  responses: { 200: response },
  errors: ['nodeInstanceNotFound'],
  refusals: { params: 'nodeInstanceNotFound' },
  async handler({ params, services }) {
    const found = await findConfiguration(services.database, params.nodeInstanceId);
    if (found === undefined) throw new Problem('nodeInstanceNotFound');
    return present(found);
  },
});

const changeSchema = z
  .object({
    configuration: freeJson(),
    rerun: z.boolean().default(false).meta({
      description: 'Reprocess the node in the same transaction, as Administrators and Developers may.',
    }),
  })
  .meta({ id: 'NodeConfigurationChange', example: { configuration: configurationExample, rerun: true } });

const refusedSchema = errorSchema.extend({ errors: z.array(documentIssueSchema) }).meta({
  id: 'NodeConfigurationRefused',
  example: {
    message: 'The configuration does not match the schema of the node template.',
    errors: [{ path: '$.configuration.laps', message: "Does not match the schema: 'must be integer'." }],
  },
});

const refusals: Readonly<
  Record<Exclude<ConfigurationResult['outcome'], 'saved' | 'overtaken' | 'invalid'>, ProblemKey>
> = {
  'node-missing': 'nodeInstanceNotFound',
  frozen: 'sessionFrozen',
  'no-inputs': 'nodeHasNoInputs',
};

const change = defineRoute({
  id: 'changeNodeConfiguration',
  method: 'PUT',
  path,
  summary: 'Changes the configuration of a node',
  description:
    'It replaces the present one for every run that is not yet claimed and all later ones; a claimed run keeps what it ' +
    'had, through all of its attempts, so a failed run that is retried does not get it: reprocess the node, or send ' +
    '`rerun`. It must match the schema of the node template. Each change is a revision; an equal configuration is none. ' +
    'With `If-Match` a change is refused when another came between.',
  tags,
  access: access.nodeConfigurationWrite,
  audit: { object: 'nodeInstance', from: 'nodeInstanceId' },
  params,
  headers: ifMatchHeaders,
  body: changeSchema,
  responses: { 200: response },
  errors: [...Object.values(refusals), 'configurationRefused', 'configurationOvertaken', 'forbidden'],
  errorBodies: { configurationRefused: refusedSchema },
  refusals: { params: 'nodeInstanceNotFound' },
  async handler({ params, headers, body, principal, services }) {
    if (body.rerun) {
      const decision = decideAccess(access.reprocess, principal);
      if (!decision.allowed) throw new Problem(decision.problem);
    }
    const result = await changeConfiguration(services.database, {
      ...params,
      ...body,
      changedBy: principal.userId,
      isExpected: expectedRevision(headers),
    });
    switch (result.outcome) {
      case 'saved':
        return present(result);
      case 'invalid':
        throw new Problem('configurationRefused', { fields: { errors: result.issues } });
      case 'overtaken':
        throw new Problem('configurationOvertaken', {
          message: `Another change came between: the configuration is at revision ${result.revision}.`,
        });
      default:
        throw new Problem(refusals[result.outcome]);
    }
  },
});

function present({ revision, configuration }: StoredConfiguration) {
  return {
    status: 200,
    body: { revision, configuration: configurationOf(configuration) },
    headers: etagOf(revision),
  } as const;
}

const revisionsSchema = z
  .object({
    revisions: z.array(
      z.object({
        revision: revisionNumber(),
        configuration: jsonObjectOut(),
        changedBy: z
          .guid()
          .nullable()
          .meta({ description: 'User id; null: the session template, when the session was made.' }),
        changedByName: z
          .string()
          .nullable()
          .meta({ description: 'Name of that person; null when the caller may not see them.' }),
        changedAt: timestampOut(),
      }),
    ),
    next: z.int().nullable().meta({ description: '`before` of the next page; null: that was all.' }),
  })
  .meta({
    id: 'NodeConfigurationRevisions',
    example: {
      revisions: [
        {
          revision: 2,
          configuration: configurationExample,
          changedBy: exampleValues.userId,
          changedByName: 'Maria Verdi',
          changedAt: exampleValues.processedAt,
        },
        {
          revision: 1,
          configuration: { inputFormat: 'auto' },
          changedBy: null,
          changedByName: null,
          changedAt: exampleValues.startedAt,
        },
      ],
      next: null,
    },
  });

const revisions = defineRoute({
  id: 'listNodeConfigurationRevisions',
  method: 'GET',
  path: `${path}/revisions`,
  summary: 'Lists the configurations that a node had, newest first, with who changed it and when',
  description:
    'The configuration from the session template is revision 1 and has no user. Each change adds a revision.',
  tags,
  access: access.nodeConfigurationRead,
  params,
  query: z.object({
    before: integerParameter({ min: 1, initial: limits.maxInt32 }).meta({
      description: 'Only revisions below this one.',
    }),
    limit: integerParameter({ min: 1, max: maxRevisions, initial: maxRevisions }).meta({
      description: 'Most revisions of a page.',
    }),
  }),
  responses: { 200: { description: 'One page.', schema: revisionsSchema } },
  errors: ['nodeInstanceNotFound'],
  refusals: { params: 'nodeInstanceNotFound' },
  async handler(context) {
    const { params, query, services } = context;
    const found = await listRevisions(services.database, params.nodeInstanceId, query);
    if (found === undefined) throw new Problem('nodeInstanceNotFound');
    const people = peopleOf(context);
    await people.prefetch(found.flatMap(({ changedBy }) => changedBy ?? []));
    const last = found.at(-1);
    return {
      status: 200,
      body: {
        revisions: await Promise.all(
          found.map(async ({ configuration, changedAt, ...revision }) => ({
            ...revision,
            configuration: configurationOf(configuration),
            changedByName: revision.changedBy === null ? null : await people.nameOf(revision.changedBy),
            changedAt: formatTimestamp(changedAt),
          })),
        ),
        next: last === undefined || last.revision === 1 ? null : last.revision,
      },
    };
  },
});

const schema = defineRoute({
  id: 'getNodeConfigurationSchema',
  method: 'GET',
  path: `${path}/schema`,
  summary: 'Returns the JSON Schema of a node’s configuration',
  description: 'As the node template declares it: dialect 2020-12, inline. `{}` allows every object.',
  tags,
  access: access.nodeConfigurationRead,
  params,
  responses: {
    200: {
      description: 'Node template and schema.',
      schema: z.object({ nodeTemplate: z.string(), schema: jsonObjectOut() }).meta({
        id: 'NodeConfigurationSchema',
        example: {
          nodeTemplate: 'lap-splitter',
          schema: { type: 'object', properties: { laps: { type: 'integer' } } },
        },
      }),
    },
  },
  errors: ['nodeInstanceNotFound'],
  refusals: { params: 'nodeInstanceNotFound' },
  async handler({ params, services }) {
    const found = await findConfigurationSchema(services.database, params.nodeInstanceId);
    if (found === undefined) throw new Problem('nodeInstanceNotFound');
    return { status: 200, body: found };
  },
});

export const nodeConfigurationRoutes = [read, change, revisions, schema];
