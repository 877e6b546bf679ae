/** Headings of several lines. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TabularBench } from './support.ts';

let bench: TabularBench;
beforeAll(async () => {
  bench = await TabularBench.open();
});
afterAll(() => bench.close());

const lines = (count: number, line: (row: number) => string) =>
  Array.from({ length: count }, (_, row) => `${line(row)}\r\n`).join('');

describe('headings of several lines become names and units', () => {
  const quoted = (...cells: string[]) => `${cells.map((cell) => `"${cell}"`).join(',')}\r\n`;
  const tables: [string, string, (string | null)[][], string | null][] = [
    [
      'a data logger (TOA5)',
      quoted('TOA5', 'CR1000', 'CR1000', '42', 'OS.32', 'CPU:rig.CR1', '17', 'T10') +
        quoted('TIMESTAMP', 'RECORD', 'Batt_V', 'T_Avg') +
        quoted('TS', 'RN', 'Volts', 'Deg C') +
        quoted('', '', 'Min', 'Avg') +
        lines(20, (row) => `"2026-11-28 10:${row + 10}:00",${row},12.${row},20.5`),
      [
        ['RECORD', 'RN'],
        ['Batt_V', 'Volts'],
        ['T_Avg', 'Deg C'],
      ],
      'TIMESTAMP',
    ],
    [
      'rigid bodies of motion capture (OptiTrack)',
      'Format Version,1.23,Take Name,Take 1,Capture Frame Rate,120.000000,Total Frames,20\r\n\r\n' +
        ',,Rigid Body,Rigid Body,Rigid Body,Rigid Body\r\n,,Drone,Drone,Drone,Drone\r\n,,"1234","1234","1234","1234"\r\n' +
        ',,Rotation,Rotation,Position,Position\r\nFrame,Time (Seconds),X,Y,X,Y\r\n' +
        lines(20, (row) => `${row},${(row / 120).toFixed(6)},0.1,0.2,${row},1.5`),
      [
        ['Frame', null],
        ['Rigid Body.Drone.1234.Rotation.X', null],
        ['Rigid Body.Drone.1234.Rotation.Y', null],
        ['Rigid Body.Drone.1234.Position.X', null],
        ['Rigid Body.Drone.1234.Position.Y', null],
      ],
      'Time (Seconds)',
    ],
    [
      'trajectories of motion capture (Vicon)',
      'Trajectories\r\n100\r\n,,Subject:LASI,,,Subject:RASI,,\r\nFrame,Sub Frame,X,Y,Z,X,Y,Z\r\n,,mm,mm,mm,mm,mm,mm\r\n' +
        lines(20, (row) => `${row + 1},0,${row * 1.5},2,3,4,5,6`),
      [
        ['Frame', null],
        ['Sub Frame', null],
        ...['Subject:LASI', 'Subject:RASI'].flatMap((body) =>
          ['X', 'Y', 'Z'].map((axis) => [`${body}.${axis}`, 'mm']),
        ),
      ],
      null,
    ],
    [
      'an oscilloscope with settings in as many columns',
      'Model,DPO4054\r\nPoint Format,Y,\r\nHorizontal Scale,4e-06,\r\n,,\r\n\r\nTIME,CH1,CH2\r\n' +
        lines(20, (row) => `${(row * 4e-9).toExponential()},${row},${row * 2}`),
      [
        ['CH1', null],
        ['CH2', null],
      ],
      'TIME',
    ],
  ];
  test('of an oscilloscope that numbers its channels', async () => {
    const { description } = await bench.convert(
      `x-axis,1,2\r\nsecond,Volt,Volt\r\n${lines(20, (row) => `${row * 1e-3},${row},${row * 2}`)}`,
    );
    expect(description.channels.map(({ name, unit }) => [name, unit])).toEqual([
      ['1', 'Volt'],
      ['2', 'Volt'],
    ]);
    expect(description.time).toMatchObject({ name: 'x-axis', from: 0, to: 19 });
  });

  test.each(tables)('of %s', async (_, text, channels, time) => {
    const { description } = await bench.convert(text);
    expect(description.channels.map(({ name, unit }) => [name, unit])).toEqual(channels);
    expect(description.channels.every(({ type }) => type !== 'text')).toBe(true);
    expect(description).toMatchObject({ rowCount: 20, time: { name: time } });
    expect(description.warnings.some((warning) => warning.includes('lines above the table'))).toBe(true);
  });
});

test.each([
  ['without a comment in the rows', ''],
  ['with a field for it', '\t'],
])('recordings of LabVIEW keep the names of their channels, %s', async (_, field) => {
  const head =
    'LabVIEW Measurement\t\r\nWriter_Version\t2\r\nSeparator\tTab\r\nX_Columns\tOne\r\n***End_of_Header***\t\r\n\t\r\n' +
    'Channels\t2\t\t\r\nSamples\t20\t20\t\r\nY_Unit_Label\tVolts\tVolts\t\r\nX_Dimension\tTime\tTime\t\r\n***End_of_Header***\t\t\t\r\n' +
    'X_Value\tVoltage\tCurrent\tComment\r\n';
  const text = head + lines(20, (row) => `${(row / 1000).toFixed(6)}\t${row}\t${row * 2}${field}`);
  const { description } = await bench.convert(text);
  expect(description).toMatchObject({ rowCount: 20, time: { name: 'X_Value', from: 0, to: 19 } });
  expect(description.channels.slice(0, 2).map(({ name, max }) => [name, max])).toEqual([
    ['Voltage', 19],
    ['Current', 38],
  ]);
});

test('frames are counted, they are no seconds', async () => {
  const { description } = await bench.convert('Frame,v\n1,2\n2,3\n3,4\n');
  expect(description).toMatchObject({ time: { basis: 'row-number' }, channels: [{ name: 'Frame' }, {}] });
});

test('rows of texts above rows of numbers are no headings', async () => {
  const { rowCount, description } = await bench.convert(
    't,state,v\n0,idle,\n1,idle,\n2,run,5\n3,run,6\n4,run,7\n',
  );
  expect(rowCount).toBe(5);
  expect(description.channels.map(({ name }) => name)).toEqual(['state', 'v']);
});
