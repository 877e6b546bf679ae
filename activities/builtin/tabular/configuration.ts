/**
 * Configuration of a node of the template `system-tabular-to-dataservice` (contract, "Node configuration keys shown";
 * decisions 11). Keys not listed here, such as `dataSourceName`, are allowed and ignored. A key that is null
 * counts as absent.
 */
import { z } from 'zod';
import { parseTimestamp } from '../../../domain/timestamp.ts';

const inputFormats = ['auto', 'csv', 'tsv', 'semicolon', 'json', 'ndjson', 'parquet'] as const;
export type InputFormat = (typeof inputFormats)[number];

const textEncodings = [
  'auto',
  'utf-8',
  'utf-16le',
  'utf-16be',
  'windows-1250',
  'windows-1251',
  'windows-1252',
  'shift_jis',
  'gb18030',
  'big5',
  'euc-kr',
] as const;
export type TextEncoding = (typeof textEncodings)[number];

const groupLimits = { groups: 200, patterns: 5000, characters: 255 };
const name = z.string().trim().min(1).max(groupLimits.characters);
const flag = (description: string) => z.boolean().nullish().describe(description);

const groupSchema = z.looseObject({
  id: name,
  name: name.nullish().describe('Shown name. Default: the id.'),
  channels: z
    .array(name)
    .max(groupLimits.patterns)
    .nullish()
    .describe('Headings that belong to the group, in any case; `*` matches any text.'),
});

export const defaultSampleRows = 10_000;

export const tabularConfigurationSchema = z.looseObject({
  inputFormat: z
    .enum(inputFormats)
    .nullish()
    .describe(
      'Format of the uploads. `auto` (default) detects it from the content. `csv` is delimited text, with a comma unless the file clearly uses another delimiter.',
    ),
  encoding: z
    .enum(textEncodings)
    .nullish()
    .describe(
      'Encoding of text without a byte order mark. `auto` (default): UTF-8, or Windows-1252 where the text holds nothing beyond ASCII but Western letters and signs such as ° and µ. `windows-1252` reads ISO 8859-1 (Latin-1) too.',
    ),
  timeColumn: name
    .nullish()
    .describe(
      'Heading of the time column, with or without its unit, in any case. Absent: found by name and content, unless `autoDetectTimeColumn` is false. Where it holds days alone, a column such as `Time` with the time of the day is found beside it.',
    ),
  timeColumnIsMs: flag(
    'Numbers in the time column are milliseconds (true) or seconds (false). Absent: derived from the unit in the heading, else from the size of the numbers, else seconds.',
  ),
  baseCapturedAt: z
    .string()
    .max(64)
    .refine((text) => parseTimestamp(text) !== null, 'Must be an ISO 8601 timestamp.')
    .nullish()
    .describe(
      'ISO 8601 time from which offsets in the time column count. Without it such a recording has relative times. Numbers that are clearly an epoch time are not offsets.',
    ),
  defaultRealm: name.nullish().describe('Realm of the channels. Default: `default`.'),
  realmPerFile: flag("The realm is the upload's source key, or else its identifier, not `defaultRealm`."),
  groups: z
    .array(groupSchema)
    .max(groupLimits.groups)
    .nullish()
    .describe(
      'Groups of channels. A channel belongs to the first group that lists it in `channels`; else to the group whose id or name its heading begins with, followed by `.`, `/`, `:` or `_` (`engine.rpm`, `engine/rpm`; the longest such group wins); else to `defaultGroupId`. With neither groups nor `defaultGroupId`, the part of a heading before its first `.`, `/` or `:` makes the group.',
    ),
  defaultGroupId: name
    .nullish()
    .describe('Group of channels that belong to no other group. Default: `default`.'),
  autoDetectTimeColumn: flag(
    'Find the time column when `timeColumn` is absent, and the time of the day beside a column of days (default true). When there is no time column, rows are numbered.',
  ),
  emitSuggestedLayout: flag('Add a suggested dashboard layout, panels by group and unit (default false).'),
  whenNoOutputs: z
    .enum(['fail', 'no-output'])
    .nullish()
    .describe(
      'Result of an upload without rows or channels: a failed run of category `validation` (default) or a run without output.',
    ),
  maxAutodetectSampleRows: z
    .int()
    .min(1)
    .max(1_000_000)
    .nullish()
    .describe(
      `Rows from the start of a text file that decide its columns' types and its time column (default ${defaultSampleRows}). A later value that does not fit its column's type is an error with line and column.`,
    ),
});

export type TabularConfiguration = z.infer<typeof tabularConfigurationSchema>;
