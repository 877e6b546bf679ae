/**
 * The lower bound of the cost of following: every connection gets every notification of PostgreSQL's channel `bench_floor`.
 * Says its port.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';

const responses = new Set<ServerResponse>();
const database = new pg.Client({ connectionString: process.env.DATABASE_URL });
database.on('notification', ({ payload }) => {
  const bytes = Buffer.from(`event: window\ndata: ${payload}\n\n`);
  for (const response of responses) response.write(bytes);
});
await database.connect();
await database.query('listen bench_floor');
const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write('retry: 1000\n\n');
  responses.add(response);
  response.once('close', () => responses.delete(response));
});
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
process.on('SIGTERM', () => process.exit(0));
