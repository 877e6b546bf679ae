/** Ids and names by which generated calls reach what exists. */
import { instanceId, outside, type World } from './world.ts';

/**
 * The value of an object of the world for a parameter or a field of this name; undefined where there is none.
 * @param isInside true for fields below the first level of a body
 */
export function valueFor(
  world: World,
  { method, path }: { readonly method: string; readonly path: string },
  name: string,
  isInside = false,
): unknown {
  // A manifest names its own runner types and templates.
  if (path.includes('manifests')) return undefined;
  const plain = name.replaceAll('_', '').toLowerCase();
  const { known, platform } = world;
  const isNew =
    method === 'POST' &&
    /^\/(config|projects)$|\/(users|ingests|data-sources|session-templates|statics|reports)$/.test(path);
  const named: Readonly<Record<string, unknown>> = {
    projectid: known.project,
    sessiontemplateid: known.template,
    defaultsessiontemplateid: known.template,
    sessionid: known.session,
    nodeinstanceid: path.includes('/debug/') ? known.child : known.node,
    nodeoutputid: known.output,
    outputid: known.taskInput,
    inputid: known.taskInput,
    taskid: known.task,
    handle: known.upload,
    n: 1,
    userid: known.user,
    ids: [known.user],
    username: isNew ? `made-${world.next()}` : known.username,
    email: isNew ? `made-${world.next()}@example.org` : known.email,
    password: isNew ? 'a password of some length' : known.password,
    token: world.callers[2]?.token,
    refreshtoken: known.refreshToken,
    outcome: 'no-output',
    code: isNew ? `made-${world.next()}` : known.static,
    key: isNew ? `made-${world.next()}` : 'session-list',
    secretid: known.secret,
    inputnode: 'generated-input',
    nodetemplatename: undefined,
    datasource: 'platform',
    datasourcename: 'platform',
    urlpath: isNew ? `made/path-${world.next()}` : known.ingestPath,
    instanceid: instanceId,
    runnertypes: [outside.runnerType],
    templates: [outside.nodeTemplate],
    waitseconds: 0,
    endpoint: platform.s3.endpoint,
    region: platform.s3.region,
    bucket: platform.s3.bucket,
    accesskeyid: platform.s3.accessKeyId,
    secretaccesskey: platform.s3.secretAccessKey,
    'x-platform-runner-instance': instanceId,
    'x-ingest-secret': known.ingestSecret,
  };
  if (Object.hasOwn(named, plain)) return named[plain];
  if (plain === 'id') return idFor(known, path);
  if (plain !== 'name') return undefined;
  // Nodes of a template file have their own names.
  if (isInside) return undefined;
  if (isNew) return path === '/config' ? `PublicApi:Made:${world.next()}` : `made-${world.next()}`;
  if (path.startsWith('/config')) return known.entry;
  return path.includes('/data-sources') ? known.dataSource : undefined;
}

function idFor(known: World['known'], path: string): unknown {
  if (path.includes('/projects')) return known.project;
  if (path.includes('/ingests')) return known.ingest;
  if (path.includes('/dimensions')) return known.dimension;
  if (/\/sessions?\//.test(path)) return known.session;
  if (path.includes('/runner-tokens')) return known.runnerToken;
  if (path.includes('/runners')) return known.runner;
  return path.includes('/node-runs') ? known.run : undefined;
}
