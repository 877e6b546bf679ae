/** Sessions and the people in them: made, shared, changed, searched, closed, deleted. */
import { spellings } from '../canaries.ts';
import type { Scenario } from '../scenario.ts';

const windowStart = '2026-03-01T10:00:00.000Z';
const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();

export async function driveSessions(scenario: Scenario): Promise<void> {
  await driveOwnSessions(scenario);
  await driveSharedSessions(scenario);
  await driveSearch(scenario);
}

async function driveOwnSessions({
  drive,
  people,
  projectId,
  templateId,
  offlineToken,
}: Scenario): Promise<void> {
  const { token } = people.Instructor;
  const base = { ProjectId: projectId, SessionTemplateId: templateId };
  const unknown = drive.book.address('nobody, in a session').value;
  let sessionId = '';
  for (const [index, spell] of spellings.entries()) {
    for (const address of [people.Trainee.address.value, unknown]) {
      const email = spell(address);
      const metadata = {
        openedBy: email,
        closedBy: `Somebody <${email.trim()}>`,
        participants: [email, { email, seat: index }, { mail: email }],
      };
      const made = await drive.good('POST', '/session', {
        token: index % 2 === 0 ? token : offlineToken,
        json: { ...base, Name: `Own ${index}`, Email: email, Metadata: metadata },
      });
      sessionId = made.body.id;
      const path = `/api/v2/sessions/${sessionId}`;
      await drive.good('PATCH', path, {
        token,
        json: { email: spell(people.Developer.address.value), metadata },
      });
      await drive.good('PATCH', path, { token: offlineToken, json: { email, metadata } });
    }
  }
  const own = await drive.good('POST', '/session', { token, json: base });
  await drive.refused([400], 'POST', '/session', { token, json: { ...base, Email: `${unknown}@` } });
  await drive.refused([400], 'POST', '/session', {
    token,
    json: { ProjectId: unknown, SessionTemplateId: unknown },
  });
  await drive.refused([404], 'PATCH', `/api/v2/sessions/${encodeURIComponent(unknown)}`, {
    token,
    json: { email: unknown },
  });
  await drive.refused([403], 'POST', `/session/${own.body.id}/close`, { token, json: { email: unknown } });
  await drive.good('GET', `/api/v2/sessions/${sessionId}`, { token });
  await drive.good('POST', `/${sessionId}/scenario_instances`, {
    token,
    json: { scenarioName: 'Landing', from: windowStart, to: inHours(1) },
  });
  const configuration = `/api/v2/node-instance/${own.body.nodeInstances[0].id}/configuration`;
  const present = await drive.good('GET', configuration, { token });
  await drive.good('PUT', configuration, { token, json: { configuration: present.body.configuration } });
  for (const part of ['revisions', 'schema']) await drive.good('GET', `${configuration}/${part}`, { token });
  await drive.good('GET', configuration.replace('/configuration', '/explain'), { token });
  for (const list of ['activity', 'outputs'])
    await drive.good('GET', `/api/v2/session/${sessionId}/${list}`, { token });
  await drive.good('POST', `/api/v2/session/${sessionId}/adopt-template`, { token, json: { dryRun: true } });
  await drive.good('POST', `/api/v2/sessions/${sessionId}/freeze`, { token });
  await drive.good('POST', `/api/v2/sessions/${sessionId}/unfreeze`, { token });
  await drive.good('DELETE', `/api/v2/sessions/${own.body.id}`, { token: people.Administrator.token });
}

async function driveSharedSessions({
  drive,
  people,
  projectId,
  templateId,
  offlineToken,
}: Scenario): Promise<void> {
  const join = (name: string, email: string, token: string, startTimeUtc: string) =>
    drive.good('POST', `/api/v2/session/shared_session?projectId=${projectId}`, {
      token,
      json: {
        name,
        simulationName: 'sim',
        email,
        sessionTemplateId: templateId,
        startTimeUtc,
        machineGroup: 1,
      },
    });
  const unknown = drive.book.address('nobody, in an exercise').value;
  for (const [index, spell] of spellings.entries()) {
    // Windows of the past and of the future: the latter leave a timer when they are closed early.
    const start = index % 2 === 0 ? windowStart : inHours(1);
    const known = spell(people.Trainee.address.value);
    const opened = await join(`Exercise ${index}`, spell(unknown), offlineToken, start);
    await join(`Exercise ${index}`, known, offlineToken, start);
    await join(`Exercise ${index}`, known, people.Instructor.token, start);
    await join(`Exercise ${index}`, spell(unknown), people.Trainee.token, start);
    const { id } = opened.body;
    await drive.good('GET', `/api/v2/sessions/${id}/events`, { token: offlineToken });
    const json = {
      email: spell(index % 2 === 0 ? unknown : people.Trainee.address.value),
      reason: 'the end',
    };
    const close = index % 2 === 0 ? `/api/v2/session/${id}/close` : `/session/${id}/close`;
    const closeAt = index % 2 === 0 ? undefined : inHours(2);
    await drive.refused([403], 'POST', close, {
      token: people.Developer.token,
      json: { email: drive.book.address(`a stranger ${index}`).value },
    });
    await drive.good('POST', close, { token: people.Instructor.token, json: { ...json, closeAt } });
    await drive.good('POST', close, { token: offlineToken, json });
    await drive.good('PATCH', `/api/v2/sessions/${id}`, {
      token: people.Instructor.token,
      json: { metadata: { openedBy: known, participants: [known], closedBy: known } },
    });
  }
}

async function driveSearch({ drive, people, offlineToken }: Scenario): Promise<void> {
  const { token } = people.Instructor;
  const unknown = drive.book.address('nobody, looked for').value;
  for (const spell of spellings) {
    for (const address of [people.Trainee.address.value, unknown]) {
      const value = spell(address);
      const filter = {
        or: [
          { path: 'email', op: 'eq', value },
          { path: 'participants', op: 'contains', value },
          { path: 'openedBy', op: 'in', value: [value] },
        ],
      };
      for (const by of [token, offlineToken])
        await drive.good('POST', '/api/sessions/query', { token: by, json: { filter, limit: 5 } });
      await drive.refused([400], 'POST', '/api/sessions/query', {
        token,
        json: { filter: { path: 'email', op: value, value } },
      });
      await drive.refused([400], 'POST', '/api/sessions/query', {
        token,
        json: { filter: { path: 'userId', op: 'eq', value } },
      });
      await drive.good('GET', `/api/v2/session?search=${encodeURIComponent(value)}`, { token });
    }
  }
  for (const by of [token, offlineToken]) {
    for (const path of ['', '?owner=me&state=failed,running', '/counts', '/metadata-keys', '/storage'])
      await drive.good('GET', `/api/v2/session${path}`, { token: by });
  }
  const [shipped] = (await drive.good('GET', '/api/v2/session/session_templates', { token })).body;
  for (const path of ['', '/1', '/1/changes'])
    await drive.good('GET', `/api/v2/session/session_templates/${shipped.id}/versions${path}`, { token });
  for (const by of [token, offlineToken, people.Trainee.token])
    await drive.good('GET', '/api/v2/session/mine?pageSize=100', { token: by });
}
