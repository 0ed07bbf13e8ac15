// The official TypeScript library, first major version. Usage: typescript1.mjs ADDRESS WISHES.
import { readFileSync } from 'node:fs';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { obey, providerOf, tell } from './lines.mjs';

const url = new URL(process.argv[2]);
const wishes = JSON.parse(process.argv[3]);
const { kept, provider } = providerOf(wishes);

async function connected() {
  const transport = new StreamableHTTPClientTransport(url, { authProvider: provider });
  const client = new Client({ name: wishes.name, version: '1' });
  try {
    await client.connect(transport);
  } catch (error) {
    if (!(error instanceof UnauthorizedError) || !kept.sent) throw error;
    await transport.finishAuth(kept.sent.get('code'));
    return await connected();
  }
  return { client, transport };
}

const { client, transport } = await connected();
const pinned = JSON.parse(readFileSync(new URL('../package.json', import.meta.url)));
tell({ version: pinned.dependencies['@modelcontextprotocol/sdk'], protocol: transport.protocolVersion });
await obey(client, kept);
