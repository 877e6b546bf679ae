import { proxyActivities } from '@temporalio/workflow';

/** `width` chains of `length` activities, side by side. */
export async function peerGraph(width: number, length: number, taskQueue: string): Promise<void> {
  const { work } = proxyActivities<{ work(): Promise<string | null> }>({
    taskQueue,
    startToCloseTimeout: '1 minute',
  });
  const chain = async () => {
    for (let at = 0; at < length; at += 1) await work();
  };
  await Promise.all(Array.from({ length: width }, chain));
}
