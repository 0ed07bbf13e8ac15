// The official TypeScript library, second major version. Usage: typescript2.mjs ADDRESS WISHES.
import { readFileSync } from 'node:fs';
import {
  Client,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { obey, providerOf, tell } from './lines.mjs';

const url = new URL(process.argv[2]);
const wishes = JSON.parse(process.argv[3]);
const { kept, provider } = providerOf(wishes);

async function connected() {
  const transport = new StreamableHTTPClientTransport(url, { authProvider: provider });
  const options = { versionNegotiation: { mode: wishes.mode ?? 'auto' } };
  const client = new Client({ name: wishes.name, version: '1' }, options);
  try {
    await client.connect(transport);
  } catch (error) {
    if (!(error instanceof UnauthorizedError) || !kept.sent) throw error;
    await transport.finishAuth(kept.sent);
    return await connected();
  }
  return { client, transport };
}

const { client, transport } = await connected();
const pinned = JSON.parse(readFileSync(new URL('../package.json', import.meta.url)));
tell({
  version: pinned.dependencies['@modelcontextprotocol/client'],
  protocol: client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion,
});
await obey(client, kept);
