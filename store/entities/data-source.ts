import { defineEntity, p } from '@mikro-orm/core';
import { times } from './times.ts';

const DataSourceSchema = defineEntity({
  name: 'DataSource',
  tableName: 'data_source',
  properties: {
    id: p.bigint('number').primary(),
    name: p.text().unique(),
    /** `s3` for every store that can hold outputs. */
    kind: p.text(),
    endpoint: p.text(),
    region: p.text(),
    bucket: p.text(),
    prefix: p.text(),
    forcePathStyle: p.boolean(),
    accessKeyId: p.text().strictNullable(),
    /** Text of `SecretBox`; never leaves the store. */
    secretCiphertext: p.text().strictNullable(),
    ...times,
  },
});
export class DataSource extends DataSourceSchema.class {}
DataSourceSchema.setClass(DataSource);
