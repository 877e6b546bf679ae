import { describe, expect, test } from 'vitest';
import { checkManifest, featureNameOf, type Registered } from '../../domain/runners/manifest.ts';
import { empty, errorsOf, manifest, nodeTemplate, runnerType } from './manifest-samples.ts';

describe('a right manifest', () => {
  test('is read with its defaults', () => {
    expect(checkManifest(manifest(), empty, new Map())).toEqual({
      manifest: {
        feature: { name: 'Vision', version: '1.2.0' },
        runnerTypes: [{ name: 'vision', runtime: 'external', entrypoint: null, description: '' }],
        nodeTemplates: [
          {
            name: 'detect-objects',
            runnerType: 'vision',
            type: 'Processing',
            description: '',
            configurationSchema: { type: 'object' },
            trigger: 'all',
            incremental: false,
            reprocess: 'latest',
            maxAttempts: 3,
            timeoutSeconds: null,
            leaseSeconds: null,
          },
        ],
      },
      runnerTypes: ['vision'],
      templates: ['detect-objects'],
      errors: [],
      warnings: [],
    });
  });

  test('of a deployed runner is accepted with a warning while the host is off', () => {
    const value = manifest({ runnerTypes: [runnerType({ runtime: 'sdk', entrypoint: 'vision.mjs' })] });
    const on = checkManifest(value, empty, new Map([['vision.mjs', 'there']]));
    expect([on.errors, on.warnings]).toEqual([[], []]);
    const off = checkManifest(value, empty, null);
    expect(off.errors).toEqual([]);
    expect(off.warnings.map(({ path }) => path)).toEqual(['$.runnerTypes[0].runtime']);
  });

  test('of a deployed runner without its module is accepted with a warning', () => {
    const value = manifest({ runnerTypes: [runnerType({ runtime: 'sdk', entrypoint: 'vision.mjs' })] });
    const check = checkManifest(value, empty, new Map([['vision.mjs', 'missing']]));
    expect(check.errors).toEqual([]);
    expect(check.warnings.map(({ path }) => path)).toEqual(['$.runnerTypes[0].entrypoint']);
  });

  test.each(['1.2.0', '1.2.1', '2', '1.3.0-rc.1'])(
    'may update the same feature with version %s',
    (version) => {
      const feature = { name: 'Vision', version, ownershipType: 'ThirdParty' };
      expect(errorsOf(manifest({ feature }), { ...empty, featureVersion: '1.2.0' })).toEqual([]);
    },
  );

  test('lists the retired names', () => {
    const registered: Registered = {
      featureVersion: '1.0.0',
      manifest: null,
      runnerTypes: new Map([['vision', { featureName: 'Vision', retired: false }]]),
      nodeTemplates: new Map([
        ['detect-old', { featureName: 'Vision', type: 'Processing', retired: false }],
        ['gone-before', { featureName: 'Vision', type: 'Processing', retired: true }],
        ['of-others', { featureName: 'Other', type: 'Processing', retired: false }],
      ]),
    };
    expect(checkManifest(manifest(), registered, new Map()).warnings).toEqual([
      { path: '$.nodeTemplates', message: "Node template 'detect-old' is no longer listed and is retired." },
    ]);
  });
});

test("the feature's name is found before the whole is checked", () => {
  expect(featureNameOf(manifest())).toBe('Vision');
  expect(featureNameOf({ feature: { name: 5 } })).toBeNull();
  expect(featureNameOf(undefined)).toBeNull();
});

describe('what is worth a warning', () => {
  const warningsOf = (value: unknown, registered = empty) =>
    checkManifest(value, registered, new Map()).warnings.map((issue) => `${issue.path} ${issue.message}`);

  test('is a field that is not known, with the one that may be meant', () => {
    const value = manifest({
      $schema: 'https://example.org/manifest.json',
      nodetemplates: [],
      feature: { name: 'Vision', version: '1.2.0', ownershipType: 'ThirdParty', owner: 'us' },
      runnerTypes: [runnerType({ run_time: 'sdk' })],
      nodeTemplates: [nodeTemplate({ timeoutSecond: 600, 'max attempts': 1 })],
    });
    expect(errorsOf(value)).toEqual([]);
    const ignored = 'Unknown field; it is ignored.';
    expect(warningsOf(value)).toEqual([
      `$.nodetemplates ${ignored} Did you mean 'nodeTemplates'?`,
      `$.feature.owner ${ignored}`,
      `$.runnerTypes[0].run_time ${ignored} Did you mean 'runtime'?`,
      `$.nodeTemplates[0].timeoutSecond ${ignored} Did you mean 'timeoutSeconds'?`,
      `$.nodeTemplates[0]['max attempts'] ${ignored} Did you mean 'maxAttempts'?`,
    ]);
  });

  test('warns of a published version with other contents, and not of a repeat', () => {
    const { manifest: published } = checkManifest(manifest(), empty, new Map());
    const registered = { ...empty, featureVersion: '1.2.0', manifest: JSON.parse(JSON.stringify(published)) };
    expect(warningsOf(manifest(), registered)).toEqual([]);
    const other = manifest({ nodeTemplates: [nodeTemplate({ maxAttempts: 4 })] });
    expect(warningsOf(other, registered)).toEqual([
      '$.feature.version Version 1.2.0 is already published with other contents; they are replaced.',
    ]);
    const newer = { name: 'Vision', version: '1.3.0', ownershipType: 'ThirdParty' };
    expect(warningsOf({ ...other, feature: newer }, registered)).toEqual([]);
  });
});

test('a type that is none is one fault, also for a node template that is registered', () => {
  const known = { featureName: 'Vision', type: 'Processing', retired: false } as const;
  const registered = { ...empty, nodeTemplates: new Map([['detect-objects', known]]) };
  expect(errorsOf(manifest({ nodeTemplates: [nodeTemplate({ type: 'Procesing' })] }), registered)).toEqual([
    expect.stringMatching(/^\$\.nodeTemplates\[0\]\.type type must be one of /),
  ]);
});
