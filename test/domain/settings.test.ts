import { describe, expect, test } from 'vitest';
import { apiSettings } from '../../api/settings.ts';
import { authSettings } from '../../auth/settings.ts';
import { readSettings, SettingsError } from '../../settings/read.ts';

const parts = { api: apiSettings, auth: authSettings };
const good = {
  PARTICIPANT_KEY: 'p'.repeat(32),
  AUTH_SERVICE_KEY: 's'.repeat(32),
  TOKEN_KEY: 't'.repeat(32),
  DATABASE_URL: 'postgres://u:p@127.0.0.1:5432/d',
};

describe('settings', () => {
  test('use defaults for absent or empty variables', () => {
    const { api, auth } = readSettings(parts, { ...good, PORT: '', HOST: undefined });
    expect([api.PORT, api.AUTH_URL, auth.TRUSTED_PROXIES]).toEqual([8080, undefined, 0]);
  });

  test('report all faults of all parts together, one line each, without the values', () => {
    const environment = {
      TOKEN_KEY: 'short-secret',
      DATABASE_URL: 'mysql://x',
      PORT: 'eighty',
      AUTH_URL: 'ftp://x',
    };
    try {
      readSettings(parts, environment);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(SettingsError);
      const { lines } = error as SettingsError;
      expect(lines.map((line) => line.split(/[ :]/)[0]).sort()).toEqual(
        ['AUTH_SERVICE_KEY', 'AUTH_URL', 'DATABASE_URL', 'PARTICIPANT_KEY', 'PORT', 'TOKEN_KEY'].sort(),
      );
      expect(lines).toContain('PARTICIPANT_KEY is required.');
      expect(lines.join()).not.toContain('short-secret');
    }
  });
});
