/** The channel on which queued tasks are announced; the payload is the node template's name. */
export const taskReadyChannel = 'task_ready';
