// Helm, kubeconform and Kubernetes' own description of its resources, for the checks of the chart. Prints where they are;
// with `--if-built` prints null instead of building anything.
import { copyFileSync, existsSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { onPath, programName } from '../../local/prepare/places.mjs';
import { PlainError, say } from '../../local/prepare/progress.mjs';
import { run } from '../../local/prepare/run.mjs';
import { buildTool, goOptions, toolFolder } from '../containers/build-tool.mjs';

const programs = {
  helm: { module: 'helm', package: 'helm.sh/helm/v4/cmd/helm' },
  kubeconform: { module: 'helm', package: 'github.com/yannh/kubeconform/cmd/kubeconform' },
};

/** The oldest version that the chart supports and the newest; tools/kubernetes/go.sum has their digests. */
const kubernetes = ['v1.30.14', 'v1.37.2'];
const descriptions = toolFolder({ module: 'kubernetes' });
const descriptionPath = (version) => join(descriptions, `openapi-${version}.json`);

async function describe(version) {
  const target = descriptionPath(version);
  if (existsSync(target)) return;
  const asked = ['mod', 'download', '-json', `k8s.io/kubernetes@${version}`];
  const told = await run('go', asked, goOptions('kubernetes'));
  mkdirSync(descriptions, { recursive: true });
  const temporary = `${target}.${process.pid}.partial`;
  copyFileSync(join(JSON.parse(told).Dir, 'api/openapi-spec/swagger.json'), temporary);
  renameSync(temporary, target);
}

const paths = Object.fromEntries(
  Object.entries(programs).map(([name, tool]) => [name, join(toolFolder(tool), programName(name))]),
);
const openApi = Object.fromEntries(kubernetes.map((version) => [version, descriptionPath(version)]));
const isBuilt = [...Object.values(paths), ...Object.values(openApi)].every((path) => existsSync(path));
try {
  if (!isBuilt && !process.argv.includes('--if-built')) {
    if (onPath('go') === undefined) throw new PlainError('Go 1.26 or newer is needed to build Helm.');
    for (const [name, tool] of Object.entries(programs)) await buildTool(name, tool);
    for (const version of kubernetes) await describe(version);
    process.stdout.write(`${JSON.stringify({ ...paths, openApi })}\n`);
  } else process.stdout.write(`${JSON.stringify(isBuilt ? { ...paths, openApi } : null)}\n`);
} catch (error) {
  say(error instanceof PlainError ? error.message : (error.stack ?? String(error)));
  process.exit(1);
}
