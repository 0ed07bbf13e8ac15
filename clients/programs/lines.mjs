// How a program is driven: see lines.py, whose lines these are.
import { createInterface } from 'node:readline';

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

export const tell = (said) => process.stdout.write(JSON.stringify(said) + '\n');

// null: nobody will say anything any more.
export async function hear() {
  const { value, done } = await lines.next();
  return done ? null : JSON.parse(value);
}

// What a client keeps between its runs, and how it asks for approval.
export function providerOf(wishes) {
  const kept = { tokens: undefined, client: undefined, verifier: undefined, sent: undefined };
  let state;
  const provider = {
    clientMetadataUrl: wishes.document,
    redirectUrl: wishes.redirect,
    clientMetadata: {
      client_name: wishes.name,
      redirect_uris: [wishes.redirect],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      ...(wishes.method ? { token_endpoint_auth_method: wishes.method } : {}),
    },
    state: () => (state = crypto.randomUUID()),
    clientInformation: () => kept.client,
    saveClientInformation: (client) => void (kept.client = client),
    tokens: () => kept.tokens,
    saveTokens: (tokens) => void (kept.tokens = tokens),
    codeVerifier: () => kept.verifier,
    saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
    async redirectToAuthorization(url) {
      tell({ authorize: url.toString() });
      const heard = await hear();
      kept.sent = new URL(heard.callback).searchParams;
      if (kept.sent.get('state') !== state) throw new Error('the state is not ours');
    },
  };
  return { kept, provider };
}

export async function obey(client, kept) {
  for (let command; (command = await hear()); ) {
    try {
      await answer(client, kept, command);
    } catch (error) {
      // As the libraries name it: by a class of its own, or by the code of the RFC.
      if (error.errorCode !== 'invalid_grant' && error.code !== 'invalid_grant') throw error;
      tell({ turned_away: 'invalid_grant' });
    }
  }
  await client.close();
}

async function answer(client, kept, command) {
  if (command.do === 'tools') {
    tell({ tools: (await client.listTools()).tools.map((tool) => tool.name) });
  } else if (command.do === 'call') {
    const called = { name: command.tool, arguments: command.arguments };
    const result = await client.callTool(called);
    tell(result.isError ? { refused: JSON.stringify(result.content) } : { result: result.structuredContent });
  } else if (command.do === 'spoil') {
    kept.tokens = { ...kept.tokens, access_token: 'spoilt' };
    tell({ spoilt: true });
  } else {
    tell({ refresh_token: kept.tokens?.refresh_token });
  }
}
