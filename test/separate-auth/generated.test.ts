/** Generated calls of the routes that are passed on to an authentication service in a separate process. */
process.env.TEST_SEPARATE_AUTH = 'true';
process.env.GENERATED_ONLY ??=
  '^(signIn|signOut|refresh|revoke|validate|.*OfflineToken|.*User|changePassword)';
await import('../api/generated/generated.test.ts');
