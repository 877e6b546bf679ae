/** The opening of the API reference. */
import { leakedTokenPattern } from '../../domain/token-format.ts';
import type { DocumentInfo } from '../../http/openapi.ts';

export const documentInfo: DocumentInfo = {
  title: 'Simulation Data Platform',
  version: '2',
  description: [
    'Create projects and sessions, send data into a session, follow its processing and collect the results.',
    'Every route needs `Authorization: Bearer <token>` unless it says otherwise. Routes listed without `/api/v2` ' +
      'also answer under it; `/api/v2` may be written `/api/v2.0`.',
    'Errors: `{ "status": "error", "message": "..." }`; runner routes add a stable `code`. Every response carries ' +
      '`X-Request-Id`. JSON bodies hold at most 1 MB and 64 levels, without duplicate keys, and are not compressed.',
    `Tokens that leaked into text are found by \`${leakedTokenPattern}\`.`,
  ].join('\n\n'),
  tags: [
    { name: 'Health', description: 'Whether the service can be reached.' },
    { name: 'Authentication', description: 'Access tokens: sign in, refresh, sign out, validate, revoke.' },
    { name: 'Offline tokens', description: 'Tokens of twelve months for capture devices.' },
    { name: 'Users', description: 'People and their accounts.' },
    { name: 'Projects', description: 'What sessions belong to.' },
    { name: 'Session templates', description: 'Graphs of nodes from which sessions are made.' },
    { name: 'Sessions', description: 'Make, share, follow, search and end them.' },
    { name: 'Data sources', description: 'The object stores that hold the bytes of outputs.' },
    { name: 'Configuration', description: 'Typed entries by name, public ones for everybody.' },
    { name: 'Reference', description: 'This description.' },
  ],
};
