/** A drive of three laps with its dashboard. */
import { expect } from 'vitest';
import { ask } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';

const start = Date.UTC(2026, 2, 14, 9, 30);

/** Three laps of 60 s around an ellipse, at 20 Hz. */
function drive(speedName: string): string {
  const lines = Array.from({ length: 3600 }, (_, row) => {
    const lap = 1 + Math.floor(row / 1200);
    const turn = ((row % 1200) / 1200) * 2 * Math.PI;
    const speed = 180 + 70 * Math.cos(2 * turn) + 3 * lap;
    const place = [(47.22 + 0.004 * Math.sin(turn)).toFixed(6), (14.76 + 0.01 * Math.cos(turn)).toFixed(6)];
    return `${new Date(start + row * 50).toISOString()},${speed.toFixed(2)},${(row % 1200) * 3.2},${lap},${place.join(',')}`;
  });
  return `time,${speedName} [km/h],lapDistance [m],lap,latitude,longitude\n${lines.join('\n')}\n`;
}

export interface DriveSession {
  readonly projectId: number;
  readonly sessionId: string;
  readonly inputNode: number;
  readonly dashboardId: number;
}

/** A session with the drive, in a new project or in one that is there. */
export async function driveSession(
  url: string,
  token: string,
  named: {
    readonly project: string | number;
    readonly name: string;
    readonly speed?: string;
    readonly csv?: string;
  },
): Promise<DriveSession> {
  const call = async (method: string, path: string, json?: unknown) => {
    const answer = await ask(url, method, path, { token, ...(json === undefined ? {} : { json }) });
    expect(answer.status, `${path}: ${JSON.stringify(answer.body)}`).toBeLessThan(300);
    return answer.body;
  };
  const projectId =
    typeof named.project === 'number'
      ? named.project
      : (await call('POST', '/projects', { Title: named.project })).id;
  const templates = await call('GET', '/api/v2/session/session_templates');
  const template = templates.find(
    ({ name }: { name: string }) => name === 'system-tabular-dashboard-autodetect-next',
  );
  const session = await call('POST', '/session', {
    ProjectId: projectId,
    SessionTemplateId: template.id,
    Name: named.name,
  });
  const inputNode = session.nodeInstances[0].id;
  const upload = await fetch(`${url}/api/v2/node-instance/${inputNode}/outputs/data`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'text/csv',
      'x-platform-output-identifier': 'a.csv',
    },
    body: named.csv ?? drive(named.speed ?? 'speed'),
  });
  expect(upload.status).toBe(201);
  const dimension = await eventually(
    'the session has a dashboard',
    async () => (await call('GET', `/api/v2/sessions/${session.id}`)).dimensions[0],
    60_000,
  );
  return { projectId, sessionId: session.id, inputNode, dashboardId: dimension.id };
}
