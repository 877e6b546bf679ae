/** Wire forms of configuration entries (contract: Platform configuration; decisions 13). */
import { z } from 'zod';
import {
  type ConfigurationGroups,
  isConfigurationName,
  isValueType,
  type ValueType,
} from '../../domain/configuration.ts';
import { limits } from '../../domain/limits.ts';
import { optionalText, timestampOut } from '../../http/schemas.ts';

export const configurationName = () =>
  z.string().refine(isConfigurationName).meta({
    type: 'string',
    pattern: '^[A-Za-z0-9_.-]+(:[A-Za-z0-9_.-]+)*$',
    maxLength: limits.configurationNameCharacters,
    description: 'Segments of letters, digits, `_`, `-` and `.`, separated by colons.',
    example: 'PublicApi:Ui:Title',
  });

const valueType = () =>
  z
    .custom<ValueType>((value) => typeof value === 'number' && isValueType(value), {
      error: 'valueType must be 0 (string), 1 (integer), 2 (number), 3 (bool) or 4 (JSON).',
    })
    .meta({
      type: 'integer',
      enum: [0, 1, 2, 3, 4],
      description: '0 string, 1 integer, 2 number, 3 bool, 4 JSON.',
    });

const value = () =>
  z
    .string({ error: 'value must be text.' })
    .meta({ description: 'Text of at most 64 KB that parses as its type.' });
const description = () =>
  optionalText(
    limits.descriptionCharacters,
    `description must hold at most ${limits.descriptionCharacters} characters.`,
  ).nullish();

/** The name comes first: a missing or invalid name is reported before any other fault. */
export const newConfigurationSchema = z
  .object({
    name: configurationName(),
    valueType: valueType().default(0),
    value: value(),
    description: description(),
  })
  .meta({
    id: 'ConfigurationRequest',
    example: {
      name: 'PublicApi:Ui:Title',
      valueType: 0,
      value: 'Flights',
      description: 'Shown above the console.',
    },
  });

export const configurationChangeSchema = z
  .object({
    name: configurationName()
      .nullish()
      .meta({ description: 'A name other than that of the path renames the entry.' }),
    valueType: valueType().nullish(),
    value: value().nullish(),
    description: description(),
  })
  .meta({
    id: 'ConfigurationChange',
    example: { name: 'PublicApi:Ui:Title', valueType: 0, value: 'Exercises' },
  });

const entryExample = {
  id: 31,
  name: 'PublicApi:Ui:Title',
  valueType: 0,
  value: 'Flights',
  description: 'Shown above the console.',
  createdAt: '2026-02-27T08:15:00.000Z',
  updatedAt: '2026-02-27T08:15:00.000Z',
};

export const configurationEntrySchema = z
  .object({
    id: z.int(),
    name: z.string(),
    valueType: z.int().meta({ description: '0 string, 1 integer, 2 number, 3 bool, 4 JSON.' }),
    value: z.string(),
    description: z.string(),
    createdAt: timestampOut(),
    updatedAt: timestampOut(),
  })
  .meta({ id: 'ConfigurationEntry', example: entryExample });

type WireEntry = z.output<typeof configurationEntrySchema>;

/** Not a record: those drop the key `__proto__`, which is a name like any other. */
export const configurationGroupsSchema = z
  .custom<ConfigurationGroups<WireEntry>>((groups) => typeof groups === 'object' && groups !== null)
  .meta({
    id: 'Configuration',
    type: 'object',
    description:
      'Entries by the first, the second and the remaining segments of their names. A name of one segment is in ' +
      'the group General; the last key is empty when no segment remains.',
    additionalProperties: {
      type: 'object',
      additionalProperties: {
        type: 'object',
        additionalProperties: { $ref: '#/components/schemas/ConfigurationEntry' },
      },
    },
    example: { PublicApi: { Ui: { Title: entryExample } } },
  });
