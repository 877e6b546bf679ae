import { defineEntity, p } from '@mikro-orm/core';
import { createdAt } from './times.ts';

/** A person as the platform knows them: an integer of its own and the authentication service's GUID. No name, no address. */
const PlatformUserSchema = defineEntity({
  name: 'PlatformUser',
  tableName: 'platform_user',
  properties: {
    id: p.bigint('number').primary(),
    externalId: p.uuid().unique(),
    /** The name of the role when the person was last seen. */
    type: p.text(),
    createdAt,
  },
});
export class PlatformUser extends PlatformUserSchema.class {}
PlatformUserSchema.setClass(PlatformUser);
