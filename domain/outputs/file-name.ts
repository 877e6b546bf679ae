/** Uploads carry `fileName`, recordings the `name` of the upload that they were made of; null without a usable one. */
export function fileNameOf(metadata: Readonly<Record<string, unknown>> | null): string | null {
  const name = metadata?.fileName ?? metadata?.name;
  return typeof name === 'string' && name !== '' ? name : null;
}
