/** `sdp ingest`: a file for a managed ingest, as a device sends it. */
import { type AddCommand, examples } from '../cli.ts';
import { placeOf } from '../connection.ts';
import { contentTypeOf } from '../content-type.ts';
import { PlatformClient } from '../platform-client.ts';
import { Progress } from '../progress.ts';
import { digestOf, identifierOf } from '../transfers.ts';

interface IngestOptions {
  readonly contentType?: string;
  readonly identifier?: string;
}

export const addIngest: AddCommand = (program, cli) => {
  program
    .command('ingest')
    .description(
      'Sends a file to a managed ingest. A repeat of the command sends the same identifier, derived from the ' +
        "file's name and bytes, so it makes no second session.",
    )
    .argument('<urlPath>', 'path of the ingest, as in /ingest/<urlPath>')
    .argument('<file>')
    .option('--content-type <type>', 'media type (default: by the file name)')
    .option('--identifier <text>', 'identifier of the output')
    .addHelpText(
      'after',
      `${examples('ingest devices/rig-3 lap-7.csv')}\n\nSDP_INGEST_SECRET is the secret of the ingest. No sign-in is needed.`,
    )
    .action(async (urlPath: string, file: string, options: IngestOptions) => {
      const { address } = await placeOf(cli.url);
      const { SDP_INGEST_SECRET: secret } = process.env;
      const progress = new Progress();
      const sha256 = await digestOf(file);
      const headers = {
        'content-type': options.contentType ?? contentTypeOf(file),
        'x-platform-output-identifier': options.identifier ?? identifierOf(file, sha256),
        'x-amz-checksum-sha256': Buffer.from(sha256, 'hex').toString('base64'),
        ...(secret ? { 'x-ingest-secret': secret } : {}),
      };
      const platform = new PlatformClient(address);
      const reply = await platform.ingest(urlPath, file, headers, (sent, total) =>
        progress.update(file, sent, total),
      );
      const output =
        'nodeOutputId' in reply ? `Output ${reply.nodeOutputId}` : 'Stored and queued for a node';
      cli.print(reply, () => `${output} of session ${reply.sessionId}.`);
    });
};
