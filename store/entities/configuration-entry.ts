import { defineEntity, p } from '@mikro-orm/core';
import type { ValueType } from '../../domain/configuration.ts';
import { times } from './times.ts';

const ConfigurationEntrySchema = defineEntity({
  name: 'ConfigurationEntry',
  tableName: 'configuration',
  properties: {
    id: p.bigint('number').primary(),
    name: p.text(),
    valueType: p.smallint().$type<ValueType>(),
    value: p.text(),
    description: p.text(),
    ...times,
  },
});
export class ConfigurationEntry extends ConfigurationEntrySchema.class {}
ConfigurationEntrySchema.setClass(ConfigurationEntry);
