import { expect, test } from 'vitest';
import { comingTemporal, type Started, type TemporalAddress } from '../../local/parts.ts';

const at = (port: number): TemporalAddress => ({ address: `127.0.0.1:${port}`, uiUrl: 'http://127.0.0.1:1' });

function temporalThatStarts() {
  let choose!: (address: TemporalAddress) => void;
  const started = Promise.withResolvers<Started<TemporalAddress>>();
  const temporal = comingTemporal((report) => {
    choose = report;
    return started.promise;
  });
  return { temporal, choose, fail: started.reject };
}

test('what waits at a port that another program took is begun again at the next one', async () => {
  const { temporal, choose } = temporalThatStarts();
  choose(at(1));
  const used: string[] = [];
  const works = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const whole = temporal.withAddress(async ({ address }) => {
    used.push(address);
    await works[used.length - 1]?.promise;
  });
  await expect.poll(() => used).toEqual(['127.0.0.1:1']);
  choose(at(2));
  await expect.poll(() => used).toEqual(['127.0.0.1:1', '127.0.0.1:2']);
  works[0]?.reject(new Error('stopped before it was ready'));
  works[1]?.resolve();
  await whole;
});

test('a failure at the last address, and one of Temporal itself, are passed on', async () => {
  const { temporal, choose, fail } = temporalThatStarts();
  choose(at(1));
  await expect(temporal.withAddress(() => Promise.reject(new Error('no API')))).rejects.toThrow('no API');
  const waiting = temporal.withAddress(() => new Promise(() => undefined));
  fail(new Error('no Temporal'));
  await expect(waiting).rejects.toThrow('no Temporal');
  await expect(temporal.server).rejects.toThrow('no Temporal');
});
