import { defineEntity, p } from '@mikro-orm/core';

/** A person as the platform knows them: an integer of its own and the authentication service's GUID. No name, no address. */
const PlatformUserSchema = defineEntity({
  name: 'PlatformUser',
  tableName: 'platform_user',
  properties: {
    id: p.bigint('number').primary(),
    externalId: p.uuid().fieldName('external_id').unique(),
    /** The name of the role when the person was last seen. */
    type: p.text(),
    createdAt: p
      .datetime()
      .fieldName('created_at')
      .onCreate(() => new Date()),
  },
});
export class PlatformUser extends PlatformUserSchema.class {}
PlatformUserSchema.setClass(PlatformUser);
