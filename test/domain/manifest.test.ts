import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkManifest, featureNameOf, type Registered } from '../../domain/runners/manifest.ts';
import { compareVersions, parseVersion } from '../../domain/version.ts';

const empty: Registered = {
  featureVersion: null,
  manifest: null,
  runnerTypes: new Map(),
  nodeTemplates: new Map(),
};
const runnerType = (extra: object = {}) => ({ name: 'vision', runtime: 'external', ...extra });
const nodeTemplate = (extra: object = {}) => ({
  name: 'detect-objects',
  runnerType: 'vision',
  type: 'Processing',
  configurationSchema: { type: 'object' },
  ...extra,
});
const manifest = (extra: object = {}) => ({
  manifestVersion: 1,
  feature: { name: 'Vision', version: '1.2.0', ownershipType: 'ThirdParty' },
  runnerTypes: [runnerType()],
  nodeTemplates: [nodeTemplate()],
  ...extra,
});
const errorsOf = (value: unknown, registered = empty) =>
  checkManifest(value, registered, new Map()).errors.map((issue) => `${issue.path} ${issue.message}`);

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

  test('of a deployed runner is taken with a warning while the host is off', () => {
    const value = manifest({ runnerTypes: [runnerType({ runtime: 'sdk', entrypoint: 'vision.mjs' })] });
    const on = checkManifest(value, empty, new Map([['vision.mjs', 'there']]));
    expect([on.errors, on.warnings]).toEqual([[], []]);
    const off = checkManifest(value, empty, null);
    expect(off.errors).toEqual([]);
    expect(off.warnings.map(({ path }) => path)).toEqual(['$.runnerTypes[0].runtime']);
  });

  test('of a deployed runner whose module is not there yet is taken with a warning', () => {
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

  test('tells what it retires', () => {
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
      manifest({ nodeTemplates: [nodeTemplate({ maxAttempts: 21, timeoutSeconds: 0, leaseSeconds: 9.5 })] }),
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
    [
      'a lower version',
      manifest(),
      '$.feature.version The version is below 2.0.0, which is published already.',
    ],
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

  test('schemas that would take long to compile together', () => {
    const properties = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`p${index}`, {}]));
    const nodeTemplates = Array.from({ length: 30 }, (_, index) =>
      nodeTemplate({ name: `node-${index}`, configurationSchema: { properties } }),
    );
    const began = performance.now();
    expect(errorsOf(manifest({ nodeTemplates }))).toEqual([
      '$.nodeTemplates All node templates together may hold at most 5000 objects.',
    ]);
    const required = Array.from({ length: 3_900 }, (_, index) => `p${index}`);
    const costly = Array.from({ length: 9 }, (_, index) =>
      nodeTemplate({ name: `costly-${index}`, configurationSchema: { required } }),
    );
    expect(errorsOf(manifest({ nodeTemplates: costly }))).toEqual([
      '$.nodeTemplates All configuration schemas together may hold at most 30000 values beside those of enum and const.',
    ]);
    expect(performance.now() - began).toBeLessThan(1000);
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

test("the feature's name is found before the whole is checked", () => {
  expect(featureNameOf(manifest())).toBe('Vision');
  expect(featureNameOf({ feature: { name: 5 } })).toBeNull();
  expect(featureNameOf(undefined)).toBeNull();
});

describe('versions', () => {
  const ordered = [
    '0.9',
    '1.0.0-alpha',
    '1.0.0-alpha.1',
    '1.0.0-alpha.beta',
    '1.0.0-beta',
    '1.0.0-beta.2',
    '1.0.0-beta.11',
    '1.0.0-rc.1',
    '1.0.0',
    '1.0.1',
    '1.2',
    '1.10',
    '2',
  ];

  test('are ordered as Semantic Versioning has it', () => {
    for (const [left, a] of ordered.entries())
      for (const [right, b] of ordered.entries())
        expect(Math.sign(compareVersions(parseVersion(a)!, parseVersion(b)!))).toBe(Math.sign(left - right));
  });

  test.each([
    ['1', '1.0.0'],
    ['v1.2.0', '1.2'],
    ['1.0.0+a', '1.0.0+b'],
  ])('%s equals %s', (a, b) => {
    expect(compareVersions(parseVersion(a)!, parseVersion(b)!)).toBe(0);
  });

  test.each(['', 'x', '1.', '1.2.3.4.5', '-1', '1.0-', '1 ', '9'.repeat(70)])('%j is none', (text) => {
    expect(parseVersion(text)).toBeNull();
  });

  test('order is antisymmetric for any two', () => {
    const version = fc
      .stringMatching(/^\d{1,3}(\.\d{1,3}){0,3}(-[0-9a-c]{1,2}(\.[0-9a-c]{1,2}){0,2})?$/)
      .map((text) => parseVersion(text)!);
    fc.assert(
      fc.property(version, version, (a, b) => {
        expect(Math.sign(compareVersions(a, b)) + Math.sign(compareVersions(b, a))).toBe(0);
      }),
    );
  });
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
    const ignored = 'This field is not known and is ignored.';
    expect(warningsOf(value)).toEqual([
      `$.nodetemplates ${ignored} Did you mean 'nodeTemplates'?`,
      `$.feature.owner ${ignored}`,
      `$.runnerTypes[0].run_time ${ignored} Did you mean 'runtime'?`,
      `$.nodeTemplates[0].timeoutSecond ${ignored} Did you mean 'timeoutSeconds'?`,
      `$.nodeTemplates[0]['max attempts'] ${ignored} Did you mean 'maxAttempts'?`,
    ]);
  });

  test('is a published version that comes with other contents, and not one that comes again', () => {
    const { manifest: published } = checkManifest(manifest(), empty, new Map());
    const registered = { ...empty, featureVersion: '1.2.0', manifest: JSON.parse(JSON.stringify(published)) };
    expect(warningsOf(manifest(), registered)).toEqual([]);
    const other = manifest({ nodeTemplates: [nodeTemplate({ maxAttempts: 4 })] });
    expect(warningsOf(other, registered)).toEqual([
      '$.feature.version Version 1.2.0 is published already with other contents, which these replace.',
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
