import { describe, expect, test } from 'vitest';
import { checkManifest, type Registered } from '../../domain/runners/manifest.ts';
import { cpuMs } from '../support/cpu-time.ts';
import { empty, errorsOf, manifest, nodeTemplate, runnerType } from './manifest-samples.ts';

const owned: Registered = {
  featureVersion: '2.0.0',
  manifest: null,
  runnerTypes: new Map([
    ['system', { featureName: null, retired: false }],
    ['taken', { featureName: 'Other', retired: true }],
  ]),
  nodeTemplates: new Map([
    ['input-node', { featureName: null, type: 'Input', retired: false }],
    ['detect-objects', { featureName: 'Vision', type: 'Input', retired: false }],
    ['taken-node', { featureName: 'Other', type: 'Transform', retired: false }],
  ]),
};

describe('every fault is listed with its path', () => {
  test.each<[string, unknown, string[]]>([
    ['no object', null, ['$ The manifest must be']],
    [
      'nothing',
      {},
      [
        '$.manifestVersion',
        '$.feature ',
        '$.feature.name',
        '$.feature.version',
        '$.feature.ownershipType',
        '$.runnerTypes',
      ],
    ],
    [
      'another version of manifests',
      manifest({ manifestVersion: 2 }),
      ['$.manifestVersion manifestVersion must be 1.'],
    ],
    [
      'another owner',
      manifest({ feature: { name: 'V', version: '1.0.0', ownershipType: 'FirstParty' } }),
      ["$.feature.ownershipType The feature's ownershipType must be 'ThirdParty'."],
    ],
    [
      'a version that is none',
      manifest({ feature: { name: 'V', version: 'new', ownershipType: 'ThirdParty' } }),
      ['$.feature.version'],
    ],
    [
      'no runtime',
      manifest({ runnerTypes: [{ name: 'vision' }] }),
      ["$.runnerTypes[0].runtime runtime must be one of 'sdk', 'external'."],
    ],
    [
      'the runtime system',
      manifest({ runnerTypes: [runnerType({ runtime: 'system' })] }),
      ['$.runnerTypes[0].runtime'],
    ],
    [
      'a path as entrypoint',
      manifest({ runnerTypes: [runnerType({ runtime: 'sdk', entrypoint: '../x' })] }),
      ['$.runnerTypes[0].entrypoint'],
    ],
    [
      'a schema with $ref',
      manifest({
        nodeTemplates: [nodeTemplate({ configurationSchema: { properties: { a: { $ref: '#' } } } })],
      }),
      ["$.nodeTemplates[0].configurationSchema.properties.a['$ref']"],
    ],
    [
      'no schema',
      manifest({ nodeTemplates: [{ ...nodeTemplate(), configurationSchema: undefined }] }),
      ['$.nodeTemplates[0].configurationSchema The configuration schema must be'],
    ],
    [
      'an unknown runner type',
      manifest({ nodeTemplates: [nodeTemplate({ runnerType: 'audio' })] }),
      ["$.nodeTemplates[0].runnerType The manifest has no runner type 'audio'."],
    ],
    [
      'a wrong type',
      manifest({ nodeTemplates: [nodeTemplate({ type: 'Other' })] }),
      ['$.nodeTemplates[0].type'],
    ],
    [
      'wrong numbers',
      manifest({ nodeTemplates: [nodeTemplate({ maxAttempts: 21, timeoutSeconds: 0, leaseSeconds: 10.5 })] }),
      [
        '$.nodeTemplates[0].maxAttempts',
        '$.nodeTemplates[0].timeoutSeconds',
        '$.nodeTemplates[0].leaseSeconds',
      ],
    ],
    [
      'wrong words',
      manifest({
        nodeTemplates: [
          nodeTemplate({ trigger: 'some', incremental: 'yes', reprocess: 'none', description: 5 }),
        ],
      }),
      [
        '$.nodeTemplates[0].description',
        '$.nodeTemplates[0].trigger',
        '$.nodeTemplates[0].incremental',
        '$.nodeTemplates[0].reprocess',
      ],
    ],
    [
      'a name listed twice',
      manifest({ nodeTemplates: [nodeTemplate(), nodeTemplate()] }),
      ["$.nodeTemplates[1].name Node template 'detect-objects' is listed twice."],
    ],
    [
      'null in place of a list, which would retire all that the feature has',
      manifest({ nodeTemplates: null }),
      ['$.nodeTemplates nodeTemplates must'],
    ],
    [
      'items that are no objects',
      manifest({ runnerTypes: [runnerType(), 1], nodeTemplates: 'x' }),
      [
        '$.nodeTemplates nodeTemplates must',
        '$.runnerTypes[1] The item',
        '$.runnerTypes[1].name',
        '$.runnerTypes[1].runtime',
      ],
    ],
  ])('%s', (_, value, expected) => {
    const found = errorsOf(value);
    expect(found).toHaveLength(expected.length);
    for (const part of expected)
      expect(found.some((item) => item.startsWith(part) || item.includes(part))).toBe(true);
    expect(checkManifest(value, empty, new Map()).manifest).toBeNull();
  });

  test.each<[string, unknown, string]>([
    ['a lower version', manifest(), '$.feature.version The version is below the published 2.0.0.'],
    [
      "the platform's runner type",
      manifest({ runnerTypes: [runnerType(), runnerType({ name: 'system' })] }),
      "$.runnerTypes[1].name Runner type 'system' is registered by the platform.",
    ],
    [
      "another feature's retired runner type",
      manifest({ runnerTypes: [runnerType(), runnerType({ name: 'taken' })] }),
      "$.runnerTypes[1].name Runner type 'taken' is registered by another feature.",
    ],
    [
      "the platform's node template",
      manifest({ nodeTemplates: [nodeTemplate({ name: 'input-node', type: 'Input' })] }),
      "$.nodeTemplates[0].name Node template 'input-node' is registered by the platform.",
    ],
    [
      "another feature's node template",
      manifest({ nodeTemplates: [nodeTemplate({ name: 'taken-node' })] }),
      "$.nodeTemplates[0].name Node template 'taken-node' is registered by another feature.",
    ],
    [
      'an Input that becomes another type',
      manifest(),
      "$.nodeTemplates[0].type The type of 'detect-objects' is Input and cannot become Processing.",
    ],
  ])('%s', (_, value, expected) => {
    expect(errorsOf(value, owned)).toContain(expected);
  });

  test('up to 200, and then that more exist', () => {
    const found = errorsOf(manifest({ nodeTemplates: Array.from({ length: 200 }, () => 1) }));
    expect(found).toHaveLength(201);
    expect(found.filter((item) => item === '$ More faults exist and are not listed.')).toEqual([
      found.at(-1),
    ]);
  });

  test('schemas that would take long to compile together', () => {
    const properties = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`p${index}`, {}]));
    const nodeTemplates = Array.from({ length: 30 }, (_, index) =>
      nodeTemplate({ name: `node-${index}`, configurationSchema: { properties } }),
    );
    const began = cpuMs();
    expect(errorsOf(manifest({ nodeTemplates }))).toEqual([
      '$.nodeTemplates All node templates together may have at most 5000 objects.',
    ]);
    const required = Array.from({ length: 3_900 }, (_, index) => `p${index}`);
    const costly = Array.from({ length: 9 }, (_, index) =>
      nodeTemplate({ name: `costly-${index}`, configurationSchema: { required } }),
    );
    expect(errorsOf(manifest({ nodeTemplates: costly }))).toEqual([
      '$.nodeTemplates All configuration schemas together may have at most 30000 values, not counting enum and const.',
    ]);
    expect(cpuMs() - began).toBeLessThan(1000);
  });

  test.each(['a', 'A-b', 'über', '1a', 'a--b', '-a', 'a-', 'a_b', 'a'.repeat(65), ''])(
    'the name %j',
    (name) => {
      expect(errorsOf(manifest({ nodeTemplates: [nodeTemplate({ name })] }))[0]).toContain(
        '$.nodeTemplates[0].name',
      );
      expect(errorsOf(manifest({ runnerTypes: [runnerType(), runnerType({ name })] }))[0]).toContain(
        '$.runnerTypes[1].name',
      );
    },
  );

  test.each(['ab', 'a1', 'a-1-b', 'a'.repeat(64)])('but not the name %j', (name) => {
    expect(errorsOf(manifest({ nodeTemplates: [nodeTemplate({ name })] }))).toEqual([]);
  });
});
