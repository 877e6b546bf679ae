/** The page of the manifest describes what the platform checks: the same fields, defaults and limits. */
import { expect, test } from 'vitest';
import { checkManifest } from '../../domain/runners/manifest.ts';
import { empty, errorsOf, manifest, nodeTemplate, runnerType } from '../domain/manifest-samples.ts';
import { manifestShape } from './reference/manifest.ts';

const { feature, runnerTypes, nodeTemplates } = manifestShape.properties!;
const ofRunnerTypes = runnerTypes!.items!.properties!;
const ofNodeTemplates = nodeTemplates!.items!.properties!;
const filled = (fields: object) => Object.fromEntries(Object.keys(fields).map((name) => [name, 1]));

test('has every field that the platform knows, and no other', () => {
  const unknownOf = (extra: object) => {
    const { warnings } = checkManifest({ ...manifest(), ...extra }, empty, null);
    return warnings.filter(({ message }) => message.startsWith('Unknown field')).map(({ path }) => path);
  };
  expect(
    unknownOf({
      ...filled(manifestShape.properties!),
      feature: filled(feature!.properties!),
      runnerTypes: [filled(ofRunnerTypes)],
      nodeTemplates: [filled(ofNodeTemplates)],
    }),
  ).toEqual([]);
  const complete = {
    ...manifest(),
    runnerTypes: [runnerType()],
    nodeTemplates: [{ ...nodeTemplate(), concurrency: { max: 1 } }],
  };
  const [read] = checkManifest(complete, empty, null).manifest!.nodeTemplates;
  expect(Object.keys(ofNodeTemplates).sort()).toEqual(Object.keys(read!).sort());
});

test('has the defaults that the platform uses', () => {
  const { manifest: read } = checkManifest(manifest(), empty, null);
  const used: Readonly<Record<string, unknown>> = { ...read!.nodeTemplates[0] };
  // Null: the lease of the platform, when a task is claimed.
  for (const [name, { default: initial }] of Object.entries(ofNodeTemplates))
    if (initial !== undefined && name !== 'leaseSeconds') expect([name, used[name]]).toEqual([name, initial]);
  expect(used.leaseSeconds).toBeNull();
  expect(read!.runnerTypes[0]!.description).toBe(ofRunnerTypes.description!.default);
});

test('has the limits that the platform holds, and the fields that it requires', () => {
  for (const [name, { minimum, maximum }] of Object.entries(ofNodeTemplates)) {
    if (maximum === undefined) continue;
    const faultsWith = (value: number) =>
      errorsOf(manifest({ nodeTemplates: [nodeTemplate({ [name]: value })] })).length;
    const [least, most] = [Number(minimum), Number(maximum)];
    expect([name, ...[least - 1, least, most, most + 1].map(faultsWith)]).toEqual([name, 1, 0, 0, 1]);
  }
  const without = (field: string) => {
    const item = nodeTemplate() as Record<string, unknown>;
    delete item[field];
    return errorsOf(manifest({ nodeTemplates: [item] })).length;
  };
  for (const field of nodeTemplates!.items!.required!) expect([field, without(field)]).toEqual([field, 1]);
});
