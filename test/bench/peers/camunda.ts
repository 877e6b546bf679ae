import { randomUUID } from 'node:crypto';
import { BenchClient } from '../support/platform.ts';
import { startJava } from './java-server.ts';
import type { Peer } from './peer.ts';

const topicName = 'peer';
const engine = '/engine-rest';

/** Camunda 7: external tasks, fetched and completed over REST. @param jar made of the folder `camunda` beside this file */
export async function startCamunda(jar: string): Promise<Peer> {
  const server = await startJava({ jar, health: `${engine}/engine`, settings: {} });
  const client = new BenchClient(Number(new URL(server.url).port));
  return {
    name: 'Camunda 7',
    settings: `${/camunda-([\d.]+)\.jar/.exec(jar)?.[1]} with Spring Boot, PostgreSQL, full history; JSON over HTTP/1.1`,
    async graph(width, length) {
      const key = `peer-${randomUUID()}`;
      const form = new FormData();
      form.set('deployment-name', key);
      form.set('data', new Blob([processOf(key, width, length)]), `${key}.bpmn`);
      const answer = await fetch(`${server.url}${engine}/deployment/create`, { method: 'POST', body: form });
      if (!answer.ok) throw new Error(await answer.text());
      return () => client.expect(200, 'POST', `${engine}/process-definition/key/${key}/start`, {});
    },
    async claim(workerId, waitSeconds) {
      const [task] = await client.expect<readonly [{ id: string; processInstanceId: string }?]>(
        200,
        'POST',
        `${engine}/external-task/fetchAndLock`,
        {
          workerId,
          maxTasks: 1,
          asyncResponseTimeout: waitSeconds === 0 ? undefined : waitSeconds * 1_000,
          topics: [{ topicName, lockDuration: 60_000 }],
        },
      );
      return task === undefined ? undefined : { id: task.id, of: task.processInstanceId };
    },
    async complete(workerId, { id }, output) {
      const variables = output === null ? {} : { output: { value: output, type: 'String' } };
      // Two chains of one process that end at once: the engine refuses one, which is sent again.
      for (;;) {
        const { status } = await client.call('POST', `${engine}/external-task/${id}/complete`, {
          workerId,
          localVariables: variables,
        });
        if (status === 204) return;
        if (status !== 500) throw new Error(`complete: ${status}`);
      }
    },
    pids: server.pids,
    async stop() {
      client.close();
      await server.stop();
    },
  };
}

function processOf(key: string, width: number, length: number): string {
  const tasks = Array.from(
    { length },
    (_, row) => `<serviceTask id="t${row}" camunda:type="external" camunda:topic="${topicName}"/>
      <sequenceFlow id="f${row}" sourceRef="t${row}" targetRef="${row + 1 < length ? `t${row + 1}` : 'done'}"/>`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="peer"
    xmlns:camunda="http://camunda.org/schema/1.0/bpmn" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
  <process id="${key}" isExecutable="true" camunda:historyTimeToLive="P1D">
    <startEvent id="start"/>
    <sequenceFlow id="in" sourceRef="start" targetRef="chains"/>
    <subProcess id="chains">
      <multiInstanceLoopCharacteristics isSequential="false">
        <loopCardinality xsi:type="tFormalExpression">${width}</loopCardinality>
      </multiInstanceLoopCharacteristics>
      <startEvent id="begin"/>
      <sequenceFlow id="first" sourceRef="begin" targetRef="t0"/>
      ${tasks.join('\n      ')}
      <endEvent id="done"/>
    </subProcess>
    <sequenceFlow id="out" sourceRef="chains" targetRef="end"/>
    <endEvent id="end"/>
  </process>
</definitions>`;
}
