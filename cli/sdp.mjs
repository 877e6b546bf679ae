#!/usr/bin/env node
// `npx sdp`: the way in that installs what is missing and runs on Node 20, as `npm run sdp` has it.
process.argv.splice(2, 0, 'cli/sdp.ts');
await import('../local/bootstrap.mjs');
