/** What the conversion of tables and the reader of series agree on. */
export const channelTypes = ['number', 'integer', 'boolean', 'text'] as const;
export type ChannelType = (typeof channelTypes)[number];
