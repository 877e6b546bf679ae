/** A recording for the first minute. Pure: tested without a browser. */

const lapSeconds = 80;
const laps = 6;
const rowsPerSecond = 10;
const startMs = Date.UTC(2026, 4, 9, 14, 0, 0);

/** Six laps of a car, ten rows a second: always the same. */
export function exampleRecording(): File {
  return new File([exampleText()], 'Six laps of a car.csv', { type: 'text/csv' });
}

export function exampleText(): string {
  const rows = Array.from({ length: laps * lapSeconds * rowsPerSecond }, (_row, index) => {
    const seconds = index / rowsPerSecond;
    const lap = Math.floor(seconds / lapSeconds);
    const turn = (2 * Math.PI * (seconds % lapSeconds)) / lapSeconds;
    // Two straights with a chicane in one of them; the tyres lose a little each lap.
    const pace = 0.55 + 0.3 * Math.cos(2 * turn) + 0.12 * Math.sin(5 * turn) - 0.012 * lap;
    const speed = 75 + 255 * pace;
    const gear = Math.max(1, Math.min(8, Math.ceil(speed / 42)));
    const rpm = 6500 + 5800 * ((speed % 42) / 42);
    const throttle = Math.max(0, Math.min(100, 60 + 70 * Math.sin(2 * turn + 0.8)));
    const compound = lap < 3 ? 'soft' : 'medium';
    const time = new Date(startMs + seconds * 1000).toISOString();
    const values = [speed.toFixed(1), rpm.toFixed(0), throttle.toFixed(0), gear, lap + 1, compound];
    return [time, ...values].join(',');
  });
  return `time,speed [km/h],engine speed [1/min],throttle [%],gear,lap,tyre compound\n${rows.join('\n')}\n`;
}
