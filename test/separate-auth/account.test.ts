/** The same guarantees with the authentication service in a separate process (test/support/api.ts). */
process.env.TEST_SEPARATE_AUTH = 'true';
await import('../api/account.test.ts');
