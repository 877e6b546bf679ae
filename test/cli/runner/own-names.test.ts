/** Names under which `sdp runner dev` registers a runner. */
import { expect, test } from 'vitest';
import { nameOfChanged, ownManifest, ownSessionTemplate, suffixOf } from '../../../cli/runner/own-names.ts';
import { checkManifest } from '../../../domain/runners/manifest.ts';
import { empty, errorsOf, manifest, nodeTemplate, runnerType } from '../../domain/manifest-samples.ts';

test('a suffix is a name of its person alone, whatever the username is', () => {
  expect(suffixOf('petra')).toBe('-petra');
  const others = ['Petra', 'petra@gliders.org', 'petra.gliders.org', 'x'.repeat(60), 'x'.repeat(61), 'Ж'];
  const suffixes = others.map(suffixOf);
  expect(new Set([...suffixes, '-petra']).size).toBe(others.length + 1);
  for (const suffix of suffixes) expect(suffix).toMatch(/^(-[a-z0-9]+)+$/);
});

test('a manifest gets own names, one version, and programs that the author runs', () => {
  const own = ownManifest(
    manifest({ runnerTypes: [runnerType({ runtime: 'sdk', entrypoint: 'vision.ts' })] }),
    '-petra',
  );
  const { manifest: read, warnings } = checkManifest(own, empty, null);
  expect(warnings).toEqual([]);
  expect(read).toMatchObject({
    feature: { name: 'Vision-petra', version: '0.0.0' },
    runnerTypes: [{ name: 'vision-petra', runtime: 'external', entrypoint: null }],
    nodeTemplates: [{ name: 'detect-objects-petra', runnerType: 'vision-petra' }],
  });
});

test.each([
  [null],
  [manifest({ feature: 7 })],
  [manifest({ feature: { name: 'Vision', version: 'new', ownershipType: 'ThirdParty' } })],
  [manifest({ runnerTypes: 'vision' })],
  [manifest({ nodeTemplates: [nodeTemplate({ name: 3, runnerType: 'other' }), 'x'] })],
])('a fault of a manifest keeps its path: %j', (faulty) => {
  const pathsOf = (value: unknown) => errorsOf(value).map((text) => text.split(' ')[0]);
  expect(pathsOf(ownManifest(faulty, '-petra'))).toEqual(pathsOf(faulty));
  expect(pathsOf(faulty)).not.toEqual([]);
});

test('a session template gets a name and nodes of the author, and another name with another graph', () => {
  const nodes = [{ NodeTemplateName: 'input-node' }, { NodeTemplateName: 'detect-objects' }];
  const own = ownSessionTemplate({ Name: 'laps', Nodes: nodes }, manifest(), '-petra');
  expect(own).toEqual({
    Name: 'laps-petra',
    updateIfExists: true,
    Nodes: [{ NodeTemplateName: 'input-node' }, { NodeTemplateName: 'detect-objects-petra' }],
  });
  const { Name } = nameOfChanged(own) as { Name: string };
  expect(Name).toMatch(/^laps-petra-[0-9a-f]{6}$/);
  expect(nameOfChanged({ ...(own as object), Nodes: [] })).not.toMatchObject({ Name });
});
