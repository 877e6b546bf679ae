/** Projects, templates, uploads, built-in nodes, dashboards, queues, ingests and settings. */
import { eventually } from '../../support/eventually.ts';
import { csv, type Scenario, settled } from '../scenario.ts';

export async function driveContent(scenario: Scenario): Promise<void> {
  await Promise.all([
    driveGraph(scenario),
    driveQueue(scenario),
    driveIngest(scenario),
    driveWebhooks(scenario),
  ]);
  await driveProjects(scenario);
  await driveSettings(scenario);
  await driveDocuments(scenario);
}

async function driveProjects({
  drive,
  people,
  projectId,
  templateId,
  offlineToken,
}: Scenario): Promise<void> {
  const { token } = people.Instructor;
  for (const by of [token, offlineToken, people.Trainee.token]) {
    await drive.good('GET', '/projects', { token: by });
    await drive.good('GET', `/projects/${projectId}`, { token: by });
    await drive.good('GET', '/user_data', { token: by });
    await drive.good('GET', '/api/v2/session/session_templates', { token: by });
    await drive.good('GET', `/api/v2/session/session_templates/${templateId}`, { token: by });
  }
  await drive.good('PUT', `/projects/${projectId}`, { token, json: { Title: 'Flights again' } });
  const OwnerId = people.Trainee.address.value;
  await drive.refused([400], 'PUT', `/projects/${projectId}`, { token, json: { Title: 'x', OwnerId } });
  await drive.good('GET', '/api/v2/admin/users', { token: people.Administrator.token });
}

/** A resumable upload in two pieces, and one that is given up. */
async function driveResumable(drive: Scenario['drive'], token: string, uploads: string): Promise<void> {
  const tus = { 'tus-resumable': '1.0.0' };
  const headers = { ...tus, 'upload-length': String(csv.length) };
  await drive.good('OPTIONS', uploads, { token });
  const begun = await drive.good('POST', uploads, { token, headers });
  const location = begun.headers.get('location')!;
  for (const at of [0, 5]) {
    await drive.good('PATCH', location, {
      token,
      bytes: csv.slice(at, at === 0 ? 5 : undefined),
      headers: { ...tus, 'content-type': 'application/offset+octet-stream', 'upload-offset': String(at) },
    });
  }
  await drive.good('GET', location, { token });
  const other = await drive.good('POST', uploads, { token, headers });
  await drive.good('DELETE', other.headers.get('location')!, { token, headers: tus });
}

/** The shipped template from upload to dashboard. */
async function driveGraph(scenario: Scenario): Promise<void> {
  const { drive, people, projectId } = scenario;
  const { token } = people.Developer;
  const templates = await drive.good('GET', '/session_templates', { token });
  const shipped = templates.body.find(({ name }: { name: string }) => name.startsWith('system-tabular'));
  const made = await drive.good('POST', '/session', {
    token,
    json: {
      Name: 'Recording',
      ProjectId: projectId,
      SessionTemplateId: shipped.id,
      Email: people.Trainee.address.value,
    },
  });
  const { id, nodeInstances } = made.body;
  const nodeId = nodeInstances[0].id;
  const uploading = { token, bytes: csv, headers: { 'content-type': 'text/csv' } };
  const upload = await drive.good('POST', `/api/v2/node-instance/${nodeId}/outputs/data`, uploading);
  await driveResumable(drive, token, `/api/v2/node-instance/${nodeId}/uploads`);
  await settled(scenario, id);
  await drive.good('GET', `/api/v2/node-instance/${nodeId}/outputs`, { token });
  const output = `/api/v2/node-instance/outputs/${upload.body.id}`;
  await drive.good('GET', `${output}/data`, { token });
  const download = await drive.good('GET', `${output}/download-address`, { token });
  await drive.good('GET', download.body.address);
  await drive.good('GET', `/api/v2/node-instance/${nodeId}/outputs/latest/data`, { token });
  await drive.good('POST', `/api/v2/node-instance/${nodeInstances[1].id}/reprocess`, { token });
  await settled(scenario, id);
  const session = await drive.good('GET', `/api/v2/sessions/${id}`, { token });
  const [dimension] = session.body.dimensions;
  const path = `/api/v2/dashboard/dimensions/${dimension.id}`;
  const { body } = await drive.good('GET', path, { token: people.Instructor.token });
  const { key } = body.sources[0].channels[0];
  await drive.good('GET', `${path}/series?channels=${encodeURIComponent(key)}`, { token });
  await drive.good('GET', `${path}/statistics?channels=${encodeURIComponent(key)}`, { token });
  await drive.good('GET', `${path}/export?format=csv`, { token });
  const derived = [{ name: 'more', expression: '1 + 1' }];
  await drive.good('POST', `${path}/series`, { token, json: { derived } });
  await drive.good('POST', `${path}/statistics`, { token, json: { derived } });
  await drive.good('POST', `${path}/export`, { token, json: { derived, format: 'csv' } });
  await driveLayouts(scenario, path);
  const annotations = `/api/v2/session/${id}/annotations`;
  const json = { from: '2026-03-01T10:00:00Z', label: 'Take-off', text: 'Long run' };
  const note = await drive.good('POST', annotations, { token: people.Trainee.token, json });
  await drive.good('GET', annotations, { token: people.Instructor.token });
  await drive.good('PATCH', `${annotations}/${note.body.id}`, { token, json: { text: '' } });
  await drive.good('DELETE', `${annotations}/${note.body.id}`, { token });
  await driveViews(scenario);
  await driveStatics(scenario, id);
  await driveReports(scenario);
  await drive.good('GET', '/api/v2/dashboard/dimensions', { token });
}

/** A view that names a person by their address is refused. */
async function driveViews({ drive, people }: Scenario): Promise<void> {
  const { token, address } = people.Instructor;
  const path = '/api/v2/session/views';
  const view = { name: 'Long runs', scope: 'everyone', query: 'search=run' };
  const named = { ...view, query: `search=${encodeURIComponent(address.value)}` };
  await drive.refused([400], 'POST', path, { token, json: named });
  const made = await drive.good('POST', path, { token, json: view });
  await drive.good('GET', path, { token: people.Developer.token });
  await drive.good('PUT', `${path}/${made.body.id}`, { token, json: { ...view, scope: 'mine' } });
  await drive.good('DELETE', `${path}/${made.body.id}`, { token });
}

/** A layout knows its owner by id alone. */
async function driveLayouts({ drive, people }: Scenario, dashboard: string): Promise<void> {
  const { token } = people.Developer;
  const path = '/api/v2/dashboard/layouts';
  const layout = { version: 1, panels: [{ channels: ['speed'] }] };
  const { body } = await drive.good('POST', path, {
    token,
    json: { name: 'Wide', scope: 'everyone', layout },
  });
  await drive.good('PUT', `${path}/${body.id}`, { token, json: { name: 'Narrow', scope: 'mine', layout } });
  await drive.good('GET', path, { token });
  await drive.good('GET', `${path}/${body.id}`, { token });
  await drive.good('GET', `${dashboard}/layouts`, { token });
  await drive.good('DELETE', `${path}/${body.id}`, { token });
}

/** Reports show the people of a session to callers who may see them, and store none of them. */
async function driveReports({ drive, people }: Scenario): Promise<void> {
  const { token } = people.Developer;
  const path = '/api/v2/dashboard/reports';
  const columns = [
    { columnKey: 'session', name: 'Session', expression: 'dimension.sessionName' },
    { columnKey: 'address', name: 'Address', expression: 'user.email', source: 'user' },
  ];
  await drive.good('POST', `${path}/preview`, { token, json: { columns } });
  await drive.good('POST', path, { token, json: { key: 'who', name: 'Who flew', columns } });
  await drive.good('PUT', `${path}/who`, { token, json: { name: 'Who flew when' } });
  await drive.good('GET', `${path}/who`, { token });
  await drive.good('GET', `${path}/catalog`, { token });
  for (const format of ['csv', 'xlsx'])
    await drive.good('GET', `${path}/download?report=who&format=${format}`, { token });
  await drive.good('GET', '/api/v2/dashboard/report-names', { token });
  await driveSchedule(drive, token);
}

/** What a schedule keeps holds no address. */
async function driveSchedule(drive: Scenario['drive'], token: string): Promise<void> {
  const [path, files] = ['/api/v2/dashboard/report-schedules', '/api/v2/dashboard/report-files'];
  const json = { reportKey: 'who', every: 'day', format: 'csv' };
  const made = await drive.good('POST', path, { token, json });
  const own = `${path}/${made.body.id}`;
  await drive.good('GET', path, { token });
  await drive.good('GET', own, { token });
  await drive.good('PATCH', own, { token, json: { keptFiles: 2 } });
  await drive.good('POST', `${own}/run`, { token });
  const file = await eventually('the file is kept', async () => {
    const { body } = await drive.good('GET', `${files}?scheduleId=${made.body.id}`, { token });
    return body.files[0]?.state === 'ready' && body.files[0];
  });
  await drive.good('GET', `${files}/${file.id}`, { token });
  await drive.good('GET', `${files}/${file.id}/data`, { token });
  await drive.good('DELETE', own, { token });
}

/** A system dashboard that the session backs for a while. */
async function driveStatics({ drive, people }: Scenario, sessionId: string): Promise<void> {
  const { token } = people.Developer;
  const path = '/api/v2/admin/statics';
  const json = {
    code: 'fleet',
    title: 'Fleet',
    sectionCode: 'overview',
    sectionTitle: 'Overview',
    scopeKind: 0,
  };
  await drive.good('POST', path, { token, json });
  await drive.good('POST', `${path}/fleet/instances`, { token, json: { sessionId } });
  await drive.good('GET', '/api/v2/dashboard/statics/nav', { token });
  await drive.good('GET', path, { token });
  await drive.good('DELETE', `${path}/fleet/instances/${sessionId}`, { token });
  await drive.good('DELETE', `${path}/fleet`, { token });
}

async function driveQueue({ drive, people, templateId }: Scenario): Promise<void> {
  const { token } = people.Developer;
  const project = await drive.good('POST', '/projects', {
    token,
    json: { Title: 'Queued', QueuedIngestion: true },
  });
  const made = await drive.good('POST', '/session', {
    token,
    json: {
      ProjectId: project.body.id,
      SessionTemplateId: templateId,
      Email: people.Instructor.address.value,
    },
  });
  const path = `/api/v2/node-instance/${made.body.nodeInstances[0].id}/outputs`;
  for (let upload = 0; upload < 3; upload += 1)
    await drive.good('POST', `${path}/data`, { token, bytes: csv, headers: { 'content-type': 'text/csv' } });
  await eventually('the queue is drained', async () => {
    const { status, body } = await drive.send({ method: 'GET', path, token });
    return status === 200 && body.length === 3;
  });
}

async function driveIngest({ drive, people, projectId, templateId }: Scenario): Promise<void> {
  const { token } = people.Developer;
  const path = '/api/v2/admin/ingests';
  const made = await drive.good('POST', path, {
    token,
    json: { urlPath: 'tracks/one', projectId, sessionTemplateId: templateId, inputNode: 'in' },
  });
  const own = `${path}/${made.body.id}`;
  const send = (headers: Record<string, string>) => ({
    bytes: csv,
    headers: { 'content-type': 'text/csv', ...headers },
  });
  await drive.good('POST', '/ingest/tracks/one', send({ 'x-ingest-secret': made.body.secret }));
  await drive.good('POST', '/ingest/tracks/one', { ...send({}), token: made.body.secret });
  const rotated = await drive.good('POST', `${own}/rotate-secret`, { token });
  await drive.refused([401], 'POST', '/ingest/tracks/one', send({ 'x-ingest-secret': made.body.secret }));
  await drive.refused(
    [401],
    'POST',
    '/ingest/tracks/one',
    send({ 'x-ingest-secret': people.Developer.token }),
  );
  await drive.good('POST', '/ingest/tracks/one', send({ 'x-ingest-secret': rotated.body.secret }));
  await drive.good('GET', path, { token });
  await drive.good('GET', own, { token });
  await drive.good('PUT', own, { token, json: { creationBehaviour: 'LatestSession' } });
  await drive.good('POST', '/ingest/tracks/one', send({ 'x-ingest-secret': rotated.body.secret }));
  await driveResumable(drive, rotated.body.secret, '/api/v2/ingest-uploads/tracks/one');
  await drive.good('DELETE', own, { token });
}

async function driveWebhooks({ drive, people, projectId }: Scenario): Promise<void> {
  const { token } = people.Developer;
  const path = '/api/v2/admin/webhooks';
  const json = { url: 'http://hooks.invalid/', events: ['node.failed', 'session.created'], projectId };
  const made = await drive.good('POST', path, { token, json });
  const own = `${path}/${made.body.id}`;
  await drive.good('GET', path, { token });
  await drive.good('GET', own, { token });
  await drive.good('PUT', own, { token, json: { events: ['session.settled'] } });
  const sent = await drive.good('POST', `${own}/test`, { token });
  await drive.good('POST', `${own}/deliveries/${sent.body.id}/redeliver`, { token });
  await drive.good('GET', `${own}/deliveries`, { token });
  await drive.good('POST', `${own}/rotate-secret`, { token });
  await drive.good('DELETE', own, { token });
}

async function driveSettings({ drive, people, platform }: Scenario): Promise<void> {
  const { token } = people.Developer;
  const entry = { name: 'Ui:Title', valueType: 0, value: 'Flights', description: 'the title' };
  await drive.good('POST', '/config', { token, json: entry });
  await drive.good('PUT', '/config/Ui:Title', { token, json: entry });
  await drive.good('GET', '/config/all', { token });

  const { endpoint, region, bucket, accessKeyId, secretAccessKey } = platform.s3;
  drive.book.add({
    kind: 'password',
    name: 'key of the store',
    value: secretAccessKey,
    cores: [secretAccessKey],
  });
  const store = { kind: 's3', endpoint, region, bucket, accessKeyId, secretAccessKey, forcePathStyle: true };
  const path = '/api/v2/admin/data-sources';
  await drive.good('POST', path, { token, json: { ...store, name: 'archive', prefix: 'archive' } });
  const secret = drive.book.password('key that opens nothing').value;
  await drive.refused([400], 'POST', path, {
    token,
    json: { ...store, name: 'closed', prefix: 'closed', secretAccessKey: secret },
  });
  await drive.good('GET', path, { token });
  await drive.good('PUT', `${path}/archive`, { token, json: { ...store, name: 'archive', prefix: 'later' } });
  await drive.good('DELETE', `${path}/archive`, { token });
}

async function driveDocuments({ drive, people }: Scenario): Promise<void> {
  await drive.good('GET', '/metrics', { token: people.Developer.token });
  for (const path of ['/health_check', '/api/v2/health', '/api/v2/openapi.json', '/docs', '/docs/style.css'])
    await drive.good('GET', path);
  await drive.good('GET', '/api/v2/runner/runner-api.v1.yaml');
}
