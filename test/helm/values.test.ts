/** The chart's values without Helm: their schema, and the settings of the product that it stands for. */
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { minimalValues, readOfChart } from './chart.ts';
import { secretNames } from './processes.ts';

const schema = readOfChart('values.schema.json') as {
  readonly definitions: { readonly settings: { readonly propertyNames: object } };
};
const values = readOfChart('values.yaml') as Readonly<Record<string, object>>;
const isValid = new Ajv({ strict: false, allErrors: true }).compile(schema);
const isVariable = new Ajv({ strict: false }).compile(schema.definitions.settings.propertyNames);

test('the given values are right but for what every installation has to name', () => {
  expect(isValid(values)).toBe(false);
  expect(isValid.errors?.map(({ instancePath }) => instancePath).sort()).toEqual([
    '/s3/endpoint',
    '/temporal/address',
  ]);
  const named = Object.entries(minimalValues).map(([part, own]) => [part, { ...values[part], ...own }]);
  expect(isValid({ ...values, ...Object.fromEntries(named) })).toBe(true);
});

test('no variable that holds a secret, or names its file, may be a setting; others may', () => {
  for (const name of secretNames)
    expect([isVariable(name), isVariable(`${name}_FILE`)], name).toEqual([false, false]);
  for (const name of [
    'DATABASE_POOL_SIZE',
    'STAGING_MAX_BYTES',
    'RUN_LOG_DAYS',
    'OTEL_EXPORTER_OTLP_ENDPOINT',
  ])
    expect(isVariable(name), name).toBe(true);
});
