/** The key of a channel of a dashboard, `<output id>:<channel id>`: the channel's own id is one only within its recording. */

export function channelKey(outputId: number, channelId: string): string {
  return `${outputId}:${channelId}`;
}

/** The output that a text names if it is a key; a channel may also be named like a key. */
export function outputIdOfKey(text: string): number | undefined {
  const digits = /^(\d{1,15}):/.exec(text)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
