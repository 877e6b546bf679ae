/** People as the platform knows them, with both of their ids (decisions 4). */
import { z } from 'zod';
import { access, type Role, roles } from '../../domain/access/access.ts';
import { exampleValues } from '../../domain/examples.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import { timestampOut } from '../../http/schemas.ts';
import { ensureUsers, listUsers, type PlatformUserRow } from '../../store/administration/users.ts';
import type { Person } from '../identity/auth-client.ts';
import { defineRoute } from '../route.ts';

const platformUserSchema = z
  .object({
    id: z.int().meta({ description: "The platform's id, used as `OwnerId` of a project." }),
    email: z
      .string()
      .meta({ description: 'Empty when the authentication service no longer knows the user.' }),
    type: z.enum(roles),
    isActive: z.boolean(),
    createdAt: timestampOut().meta({ description: 'When the platform first saw the person.' }),
    externalB2CId: z.string().nullable().meta({ description: 'Null.', example: null }),
    externalPlatformId: z.guid().meta({ description: 'Id of the authentication service.' }),
  })
  .meta({
    id: 'PlatformUser',
    example: {
      id: exampleValues.ownerId,
      email: exampleValues.email,
      type: 'Instructor',
      isActive: true,
      externalPlatformId: exampleValues.userId,
    },
  });

const list = defineRoute({
  id: 'listPlatformUsers',
  method: 'GET',
  path: '/api/v2/admin/users',
  summary: 'Lists all users with both of their ids',
  description:
    "Sorted by the platform's id, which a project uses as `OwnerId`; the id of the authentication service is shown too.",
  tags: ['Users'],
  access: access.admin,
  responses: { 200: { description: 'The users.', schema: z.array(platformUserSchema) } },
  async handler({ services, principal, requestId }) {
    // Every possible owner gets an id here, also users whom the platform has not seen before.
    const people = new Map<string, Person>();
    for await (const page of services.auth.allPeople(principal.bearer, requestId)) {
      for (const person of page) people.set(person.userId.toLowerCase(), person);
    }
    await ensureUsers(
      services.database,
      [...people].map(([externalId, { role }]) => ({ externalId, type: role })),
    );
    const rows = await listUsers(services.database);
    return { status: 200, body: rows.map((row) => presentUser(row, people.get(row.externalId))) };
  },
});

function presentUser(row: PlatformUserRow, person: Person | undefined): z.input<typeof platformUserSchema> {
  return {
    id: row.id,
    email: person?.email ?? '',
    type: row.type as Role,
    isActive: person?.isActive ?? false,
    createdAt: formatTimestamp(row.createdAt),
    externalB2CId: null,
    externalPlatformId: row.externalId,
  };
}

export const platformUserRoutes = [list];
