/**
 * How soon a recording can be drawn. Run: `npm run bench:dashboard`.
 *
 * A csv of 1,000,000 rows and 10 channels: from the first byte sent to the first series of its dashboard.
 */
import { type BenchPlatform, printFigure, printMachine, startBenchPlatform } from './support/platform.ts';
import { createSession, dashboardOf, shippedTemplate } from './support/sessions.ts';

const rows = 1_000_000;
const rounds = 5;

function recording(): Buffer {
  const lines = [
    'time,speed [m/s],rpm,torque [Nm],temperature [°C],x [m],y [m],z [m],pitch [rad],roll [rad]',
  ];
  const start = Date.UTC(2026, 0, 1);
  for (let row = 0; row < rows; row++) {
    const wave = Math.sin(row / 1_000);
    const values = [
      wave * 30,
      800 + (row % 6_000),
      wave * 120,
      60 + wave,
      row / 10,
      -row / 10,
      wave,
      wave / 2,
      wave / 3,
    ];
    lines.push(
      `${new Date(start + row * 10).toISOString()},${values.map((value) => value.toFixed(3)).join(',')}`,
    );
  }
  return Buffer.from(lines.join('\n'));
}

async function uploadToSeries({ client }: BenchPlatform, body: Buffer): Promise<number> {
  const session = await createSession(client, await shippedTemplate(client), 'tabular-upload');
  const started = performance.now();
  await client.expect(201, 'POST', `/api/v2/node-instance/${session.inputId}/outputs/data`, body);
  const { path, channels } = await dashboardOf(client, session.id);
  const keys = channels.slice(0, 4).map(({ key }) => encodeURIComponent(key));
  await client.expect(200, 'GET', `${path}/series?channels=${keys.join(',')}&maxPoints=2000`);
  return performance.now() - started;
}

printMachine();
const body = recording();
const platform = await startBenchPlatform();
try {
  const times: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const ms = await uploadToSeries(platform, body);
    if (round > 0) times.push(ms);
  }
  printFigure(
    `csv of 1,000,000 rows (${(body.length / 1024 ** 2).toFixed(0)} MB): upload to drawable dashboard`,
    times,
  );
} finally {
  await platform.stop();
}
