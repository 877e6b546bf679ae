/** Accounts and tokens of people: every route of the authentication service. */
import type { Scenario } from '../scenario.ts';
import { auth, newSomebody, signIn } from '../scenario.ts';

export async function drivePeople(scenario: Scenario): Promise<void> {
  const { drive, people, platform } = scenario;
  const { book } = drive;
  const { token } = people.Administrator;
  await drive.good('GET', `${auth}/health`);
  await drive.good('GET', `${auth}/users?search=${encodeURIComponent(people.Trainee.address.value)}`, {
    token,
  });
  await drive.good('GET', `${auth}/users/${people.Trainee.userId}`, { token });
  await drive.good('POST', `${auth}/users/resolve`, {
    token,
    json: { email: people.Trainee.address.value.toUpperCase() },
  });
  const stranger = book.address('nobody with an account').value;
  await drive.refused([404], 'POST', `${auth}/users/resolve`, { token, json: { email: stranger } });
  await drive.good('POST', `${auth}/users/lookup`, { token, json: { ids: [people.Trainee.userId] } });
  await drive.good('POST', `${auth}/users/active`, {
    token: platform.environment.AUTH_SERVICE_KEY ?? '',
    json: { ids: [people.Trainee.userId] },
  });

  const guest = await newSomebody(drive, token, 'Trainee', 'a guest');
  const moved = book.address('a guest, later');
  const path = `${auth}/users/${guest.userId}`;
  await drive.good('PATCH', path, { token, json: { email: moved.value } });
  await drive.refused([409], 'PATCH', path, { token, json: { email: people.Trainee.address.value } });
  await drive.refused([409], 'POST', `${auth}/users`, {
    token,
    json: {
      username: 'somebody else',
      password: book.password('of nobody').value,
      email: people.Trainee.address.value.toUpperCase(),
      role: 'Trainee',
    },
  });
  const newPassword = book.password('a guest, later').value;
  await drive.refused([400], 'POST', `${path}/password`, {
    token: guest.token,
    json: { newPassword, currentPassword: book.password('a wrong guess').value },
  });
  await drive.good('POST', `${path}/password`, {
    token: guest.token,
    json: { newPassword, currentPassword: guest.password.value },
  });
  await drive.refused([401], 'POST', `${auth}/token`, {
    json: { username: 'a guest', password: book.password('another wrong guess').value },
  });
  // A password where the name belongs is a common slip.
  await drive.refused([401], 'POST', `${auth}/token`, {
    json: { username: newPassword, password: newPassword },
  });
  const signedIn = await drive.good('POST', `${auth}/token`, {
    json: { username: 'a guest', password: newPassword, rememberMe: true },
  });
  const { refreshToken } = signedIn.body;
  const refreshed = await drive.good('POST', `${auth}/refresh`, { json: { refreshToken } });
  await drive.good('POST', `${auth}/validate`, { json: { token: refreshed.body.accessToken } });
  await drive.good('POST', `${auth}/logout`, { token: refreshed.body.accessToken });
  await drive.refused([401], 'POST', `${auth}/refresh`, { json: { refreshToken } });
  await signIn(drive, 'a guest', newPassword);
  await drive.good('POST', `${auth}/revoke`, { token, json: { username: 'a guest' } });
  await drive.good('DELETE', path, { token });
  await driveOfflineTokens(scenario);
}

async function driveOfflineTokens({ drive, people }: Scenario): Promise<void> {
  const { token } = people.Administrator;
  for (const path of [`${auth}/offline_token`, '/api/v2/admin/offline-tokens']) {
    await drive.good('POST', path, { token });
    const list = await drive.good('GET', path, { token });
    const { secretId } = list.body.at(-1);
    await drive.good('DELETE', `${path}/${secretId}`, { token });
  }
}
