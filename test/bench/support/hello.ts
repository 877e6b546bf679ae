/** The least that Koa can answer: what a request costs before the platform does anything. Says its port. */
import type { AddressInfo } from 'node:net';
import Koa from 'koa';

const app = new Koa();
app.use((context) => {
  context.body = { message: 'hello' };
});
const server = app.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
process.on('SIGTERM', () => process.exit(0));
