/** Manifests of one feature, with faults or additions for tests. */
import { checkManifest, type Registered } from '../../domain/runners/manifest.ts';

export const empty: Registered = {
  featureVersion: null,
  manifest: null,
  runnerTypes: new Map(),
  nodeTemplates: new Map(),
};
export const runnerType = (extra: object = {}) => ({ name: 'vision', runtime: 'external', ...extra });
export const nodeTemplate = (extra: object = {}) => ({
  name: 'detect-objects',
  runnerType: 'vision',
  type: 'Processing',
  configurationSchema: { type: 'object' },
  ...extra,
});
export const manifest = (extra: object = {}) => ({
  manifestVersion: 1,
  feature: { name: 'Vision', version: '1.2.0', ownershipType: 'ThirdParty' },
  runnerTypes: [runnerType()],
  nodeTemplates: [nodeTemplate()],
  ...extra,
});
export const errorsOf = (value: unknown, registered = empty) =>
  checkManifest(value, registered, new Map()).errors.map((issue) => `${issue.path} ${issue.message}`);
